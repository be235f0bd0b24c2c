//! Who asks, and what is open: the grants of a session, the rule that decides, and where grants are kept.
//!
//! All of it is pure but [`VisibilityStore`]: [`SessionState::apply`] says what a change leads to, [`decide`] says
//! what a model may see, and neither reads a clock or waits.

mod admission;
mod apply;
mod change;
mod edit;
mod explain;
mod grant;
mod key;
mod rule;
mod standing;
mod state;
mod store;
mod stored;
mod turn;

pub use self::admission::{Admission, Admissions};
pub use self::change::{Applied, Change, ChangeOutcome, Moved};
pub use self::explain::{Explanation, Question, explain};
pub use self::grant::{Grant, GrantSpan};
pub use self::key::SessionKey;
pub use self::rule::{Decision, MemberFacts, SkillFacts, Why, decide, effective};
pub use self::standing::Standing;
pub use self::state::SessionState;
pub use self::store::{
    PURGE_BATCH, Purged, StateChange, StoreError, StoreOutcome, VisibilityStore,
};
pub use self::turn::{TurnGrant, TurnGrants, TurnOutcome, TurnWish};
