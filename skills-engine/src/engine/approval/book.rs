use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::binding::Binding;
use super::{ApprovalKind, ApprovalRequest, ApprovalToken};
use crate::audit::ApprovalOutcome;
use crate::skill::{Code, Fault, Limits, Timestamp, lock};

/// How many are remembered that are gone.
const MOST_GONE: usize = 64;

/// The arguments, edits and questions that wait in one session have at most so many times the bytes of one call's
/// arguments.
const TIMES_ARGUMENTS: usize = 4;

/// What waits for a person in one session, and what was approved and not used yet. It ends with the session.
#[derive(Default)]
pub(in crate::engine) struct Approvals {
    book: Mutex<Book>,
    told: Notify,
}

#[derive(Default)]
struct Book {
    /// Oldest first.
    entries: Vec<Entry>,
    /// What became of those that are gone, oldest first.
    gone: VecDeque<(ApprovalToken, Gone)>,
    numbers: u64,
    is_closed: bool,
}

struct Entry {
    number: u64,
    request: ApprovalRequest,
    weight: usize,
    binding: Binding,
    /// Whether a future waits for the decision; it is then for that one alone.
    is_awaited: bool,
    state: State,
}

/// Arguments that replace those of a call.
pub(super) type Edited = Option<Arc<str>>;

enum State {
    Open,
    Approved(Edited),
    /// Somebody is about to carry it out.
    Claimed(Edited),
    Denied(String),
    Replied(Value),
}

/// What became of a request that waits no longer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    Used,
    Denied,
    Expired,
    Withdrawn,
}

/// What somebody decided.
pub(super) enum Verdict {
    Approve,
    Edit(Arc<str>, Binding),
    Deny(String),
    Reply(Value),
}

impl Verdict {
    pub(super) fn outcome(&self) -> ApprovalOutcome {
        match self {
            Self::Approve => ApprovalOutcome::Approved,
            Self::Edit(..) => ApprovalOutcome::Edited,
            Self::Deny(_) => ApprovalOutcome::Denied,
            Self::Reply(_) => ApprovalOutcome::Answered,
        }
    }
}

/// A decision as whoever needs it takes it. What is approved is then claimed, the rest is gone.
pub(super) enum Taken {
    Approved(u64, Edited),
    Denied(String),
    Replied(Value),
}

/// What is known of something that was asked for before.
pub(super) enum Known {
    Taken(Taken),
    Open(ApprovalToken),
}

impl Approvals {
    /// Enters a request; `note` is told its number before anyone can answer it.
    pub(super) fn open(
        &self,
        request: ApprovalRequest,
        binding: Binding,
        limits: &Limits,
        note: impl FnOnce(u64),
    ) -> Result<u64, Fault> {
        let weight = weight(&request.kind);
        let mut book = lock(&self.book);
        if book.is_closed {
            return Err(super::super::change::ended());
        }
        let others: usize = book.entries.iter().map(Entry::weight).sum();
        if book.entries.len() >= limits.approvals
            || others + weight > limits.arguments.saturating_mul(TIMES_ARGUMENTS)
        {
            return Err(Fault::new(
                Code::LimitExceeded,
                "too much waits for a person in this session already. Do without it, or try again later",
            ));
        }
        book.numbers += 1;
        let number = book.numbers;
        note(number);
        book.entries.push(Entry {
            number,
            request,
            weight,
            binding,
            is_awaited: true,
            state: State::Open,
        });
        Ok(number)
    }

    /// What is to be decided, oldest first.
    pub(super) fn pending(&self) -> Vec<ApprovalRequest> {
        let book = lock(&self.book);
        let open = |entry: &&Entry| matches!(entry.state, State::Open);
        let entries = book.entries.iter().filter(open);
        entries.map(|entry| entry.request.clone()).collect()
    }

    /// A request that somebody may decide now; `denies` whether they want to deny it, which an approval that nobody has
    /// used yet allows, too.
    pub(super) fn decidable(
        &self,
        token: &ApprovalToken,
        denies: bool,
    ) -> Result<ApprovalRequest, Fault> {
        let mut book = lock(&self.book);
        book.decidable(token, denies)
            .map(|entry| entry.request.clone())
    }

    /// Takes in what was decided; `note` is told the number before it has an effect.
    pub(super) fn decide(
        &self,
        token: &ApprovalToken,
        verdict: Verdict,
        note: impl FnOnce(u64),
    ) -> Result<(), Fault> {
        let mut book = lock(&self.book);
        let entry = book.decidable(token, matches!(verdict, Verdict::Deny(_)))?;
        note(entry.number);
        entry.state = match verdict {
            Verdict::Approve => State::Approved(None),
            Verdict::Edit(arguments, binding) => {
                entry.binding = binding;
                State::Approved(Some(arguments))
            }
            Verdict::Deny(message) => State::Denied(message),
            Verdict::Reply(value) => State::Replied(value),
        };
        drop(book);
        self.told.notify_waiters();
        Ok(())
    }

    /// Takes the decision that a future waits for, if there is one; why there never will be one is an error.
    pub(super) fn take(&self, number: u64, token: &ApprovalToken) -> Result<Option<Taken>, Fault> {
        let mut book = lock(&self.book);
        if book.is_closed {
            return Err(super::super::change::ended());
        }
        let at = book.entries.iter().position(|entry| entry.number == number);
        match at {
            Some(at) => Ok(book.take(at)),
            None => Err(book.why_gone(token)),
        }
    }

    /// What is known of a request that nobody waits for: it is taken, if it was decided.
    pub(super) fn known(&self, binding: Binding) -> Option<Known> {
        let mut book = lock(&self.book);
        let mut open = None;
        for at in 0..book.entries.len() {
            let entry = &book.entries[at];
            if entry.is_awaited || entry.binding != binding {
                continue;
            }
            let token = entry.request.token.clone();
            let is_open = matches!(entry.state, State::Open);
            if let Some(taken) = book.take(at) {
                return Some(Known::Taken(taken));
            }
            if is_open {
                open.get_or_insert(token);
            }
        }
        open.map(Known::Open)
    }

    /// Takes the decision about a call by its token, for whoever is to carry it out.
    pub(super) fn claim(&self, token: &ApprovalToken) -> Result<(ApprovalRequest, Taken), Fault> {
        let mut book = lock(&self.book);
        let at = book.find(token)?;
        let entry = &book.entries[at];
        if !matches!(entry.request.kind, ApprovalKind::Tool { .. }) {
            return Err(Fault::new(
                Code::InvalidArguments,
                "it is not the approval of a call. Only calls are carried out later",
            ));
        }
        match entry.state {
            State::Open => {
                return Err(Fault::new(
                    Code::ApprovalRequired,
                    "nobody has decided it yet. Answer it first",
                ));
            }
            State::Claimed(_) => {
                return Err(Fault::new(
                    Code::Conflict,
                    "it is being carried out already. Wait for its result",
                ));
            }
            State::Approved(_) | State::Denied(_) | State::Replied(_) if entry.is_awaited => {
                return Err(Fault::new(
                    Code::Conflict,
                    "whoever asked for it still waits, and carries it out. Leave it to them",
                ));
            }
            State::Approved(_) | State::Denied(_) | State::Replied(_) => {}
        }
        let request = entry.request.clone();
        let decision = book.take(at).ok_or_else(unknown)?;
        Ok((request, decision))
    }

    /// Gives back what was claimed and not carried out.
    pub(super) fn give_back(&self, number: u64) {
        let mut book = lock(&self.book);
        if let Some(entry) = book.entry(number)
            && let State::Claimed(edited) = &mut entry.state
        {
            entry.state = State::Approved(edited.take());
        }
    }

    /// Forgets what is being carried out.
    pub(super) fn use_up(&self, number: u64) {
        lock(&self.book).remove(number, Gone::Used);
    }

    /// Lets a request wait without anybody who waits for it.
    pub(super) fn leave(&self, number: u64) {
        if let Some(entry) = lock(&self.book).entry(number) {
            entry.is_awaited = false;
        }
    }

    /// Forgets a request that nobody has decided; false when it was, or is gone already.
    pub(super) fn withdraw(&self, number: u64, has_expired: bool) -> bool {
        let gone = if has_expired {
            Gone::Expired
        } else {
            Gone::Withdrawn
        };
        lock(&self.book).remove_open(number, gone)
    }

    /// Lets go of a request whose future is dropped; true when it is withdrawn by that. One that was just decided
    /// stands, as if it had been left to wait.
    pub(super) fn abandon(&self, number: u64) -> bool {
        let mut book = lock(&self.book);
        let Some(entry) = book.entry(number).filter(|entry| entry.is_awaited) else {
            return false;
        };
        entry.is_awaited = false;
        if let State::Replied(_) = entry.state {
            book.remove(number, Gone::Withdrawn);
            return false;
        }
        book.remove_open(number, Gone::Withdrawn)
    }

    /// Forgets what has expired, and names it.
    pub(super) fn sweep(&self, now: Timestamp) -> Vec<u64> {
        let mut book = lock(&self.book);
        let is_over = |entry: &&Entry| {
            entry.request.expires <= now && !matches!(entry.state, State::Claimed(_))
        };
        let expired: Vec<_> = book
            .entries
            .iter()
            .filter(is_over)
            .map(|entry| entry.number)
            .collect();
        for number in &expired {
            book.remove(*number, Gone::Expired);
        }
        drop(book);
        if !expired.is_empty() {
            self.told.notify_waiters();
        }
        expired
    }

    /// Ends with the session.
    pub(in crate::engine) fn close(&self) {
        let ended = {
            let mut book = lock(&self.book);
            book.is_closed = true;
            std::mem::take(&mut book.entries)
        };
        drop(ended);
        self.told.notify_waiters();
    }

    /// Told when something was decided, or is over.
    pub(super) fn told(&self) -> Notified<'_> {
        self.told.notified()
    }
}

impl Entry {
    /// Bytes that the entry holds, as far as their number is in the hands of others.
    fn weight(&self) -> usize {
        let edited = match &self.state {
            State::Approved(Some(edited)) | State::Claimed(Some(edited)) => edited.len(),
            _ => 0,
        };
        self.weight + edited
    }
}

fn weight(kind: &ApprovalKind) -> usize {
    match kind {
        ApprovalKind::Tool { arguments, .. } => arguments.len(),
        ApprovalKind::Opening { reason, .. } => reason.len(),
        ApprovalKind::Question { text, schema, .. } => {
            let schema = schema.as_ref().map_or(0, |schema| schema.to_string().len());
            text.len() + schema
        }
    }
}

impl Book {
    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.number == number)
    }

    fn find(&self, token: &ApprovalToken) -> Result<usize, Fault> {
        let is_it = |entry: &Entry| entry.request.token == *token;
        let at = self.entries.iter().position(is_it);
        at.ok_or_else(|| self.why_gone(token))
    }

    fn decidable(&mut self, token: &ApprovalToken, denies: bool) -> Result<&mut Entry, Fault> {
        let at = self.find(token)?;
        let entry = &mut self.entries[at];
        match entry.state {
            State::Open => Ok(entry),
            State::Approved(_) if denies => Ok(entry),
            State::Approved(_) | State::Claimed(_) | State::Denied(_) | State::Replied(_) => {
                Err(Fault::new(
                    Code::Conflict,
                    "it was decided already. Only an approval that was not used yet can still be denied",
                ))
            }
        }
    }

    fn take(&mut self, at: usize) -> Option<Taken> {
        let entry = &mut self.entries[at];
        let number = entry.number;
        match std::mem::replace(&mut entry.state, State::Open) {
            State::Open => None,
            State::Claimed(edited) => {
                entry.state = State::Claimed(edited);
                None
            }
            State::Approved(edited) => {
                entry.state = State::Claimed(edited.clone());
                entry.is_awaited = false;
                Some(Taken::Approved(number, edited))
            }
            State::Denied(message) => {
                self.remove(number, Gone::Denied);
                Some(Taken::Denied(message))
            }
            State::Replied(value) => {
                self.remove(number, Gone::Used);
                Some(Taken::Replied(value))
            }
        }
    }

    fn remove(&mut self, number: u64, gone: Gone) -> bool {
        let Some(at) = self.entries.iter().position(|entry| entry.number == number) else {
            return false;
        };
        let entry = self.entries.remove(at);
        if self.gone.len() >= MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((entry.request.token, gone));
        true
    }

    fn remove_open(&mut self, number: u64, gone: Gone) -> bool {
        let is_open = self
            .entry(number)
            .is_some_and(|entry| matches!(entry.state, State::Open));
        is_open && self.remove(number, gone)
    }

    fn why_gone(&self, token: &ApprovalToken) -> Fault {
        let gone = self.gone.iter().find(|(other, _)| other == token);
        let (code, message) = match gone.map(|(_, gone)| *gone) {
            None => return unknown(),
            Some(Gone::Used) => (
                Code::Conflict,
                "the approval was used, and counts once. Have it asked for anew",
            ),
            Some(Gone::Denied) => (
                Code::Conflict,
                "it was denied already. Have it asked for anew",
            ),
            Some(Gone::Expired) => (
                Code::Timeout,
                "the time to decide it, or to use the approval, is over. Have it asked for anew",
            ),
            Some(Gone::Withdrawn) => (
                Code::Conflict,
                "nobody needs it any more. Have it asked for anew",
            ),
        };
        Fault::new(code, message)
    }
}

/// There is no such request in a session, and nobody is told whether there is one in another.
pub(super) fn unknown() -> Fault {
    Fault::new(
        Code::InvalidArguments,
        "there is no such approval in this session. Check the token",
    )
}
