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
mod pattern;
mod policy;
mod role;
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
pub use self::pattern::AllowList;
pub(crate) use self::pattern::{Coverage, Pattern};
pub use self::policy::{
    AskWhenUntrusted, PolicyAnswer, PolicyQuestion, PslControl, PslPolicy, StandardPolicy, Wanted,
};
pub use self::role::Role;
pub(crate) use self::role::{Given, Roles};
pub use self::rule::{Decision, MemberFacts, SkillFacts, Why, decide, effective};
pub(crate) use self::rule::{is_opened, least};
pub use self::standing::Standing;
pub use self::state::SessionState;
pub use self::store::{
    PURGE_BATCH, Purged, StateChange, StoreError, StoreOutcome, VisibilityStore,
};
pub use self::turn::{TurnGrant, TurnGrants, TurnOutcome, TurnStanding, TurnWish};
