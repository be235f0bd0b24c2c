use sha2::digest::Update as _;
use sha2::{Digest as _, Sha256};

use super::call::{Answer, ToolCall};
use crate::skill::{Code, Fault};

/// After so many failures in a row a call is not run again.
const MOST: u32 = 3;

/// The call that failed last in a turn, if nothing else came after it, and how often in a row.
#[derive(Default)]
pub(super) struct Repeats {
    last: Option<[u8; 32]>,
    failures: u32,
}

impl Repeats {
    /// Why a call is not run, if it failed too often in a row.
    pub(super) fn check(&self, call: &ToolCall) -> Option<Fault> {
        (self.failures_of(call) >= MOST).then(|| {
            Fault::new(
                Code::RepeatedFailure,
                format!(
                    "the same call failed {MOST} times in a row and is not run again. Try something else, or tell the \
                     user what does not work"
                ),
            )
        })
    }

    /// Takes in what became of a call that was carried out or refused, and marks the last failure that is let pass.
    pub(super) fn note(&mut self, call: &ToolCall, mut answer: Answer) -> Answer {
        if answer.outcome.is_ok() {
            *self = Self::default();
            return answer;
        }
        let digest = digest(call);
        let is_same = self.last == Some(digest);
        if answer.pending.is_some() {
            // It did not fail: it may run as soon as a person says so.
            if !is_same {
                *self = Self::default();
            }
            return answer;
        }
        self.failures = if is_same {
            self.failures.saturating_add(1)
        } else {
            1
        };
        self.last = Some(digest);
        answer.is_last_failure = self.failures == MOST;
        answer
    }

    /// How many of the first calls may begin before it is known what became of the others: one that would come after
    /// too many failures in a row waits for those before it.
    pub(super) fn together(&self, calls: &[ToolCall]) -> usize {
        let Some(mut previous) = calls.first() else {
            return 0;
        };
        let mut in_a_row = self.failures_of(previous);
        let rest = calls.iter().skip(1).take_while(|call| {
            in_a_row = if is_same(call, previous) {
                in_a_row + 1
            } else {
                0
            };
            previous = call;
            in_a_row < MOST
        });
        1 + rest.count()
    }

    fn failures_of(&self, call: &ToolCall) -> u32 {
        match self.last {
            Some(last) if last == digest(call) => self.failures,
            Some(_) | None => 0,
        }
    }
}

fn is_same(call: &ToolCall, other: &ToolCall) -> bool {
    call.arguments == other.arguments && call.name == other.name
}

/// Stands for a call: a model may repeat a long one, and nothing of it must be kept.
fn digest(call: &ToolCall) -> [u8; 32] {
    let length = (call.name.len() as u64).to_le_bytes();
    Sha256::new()
        .chain(length)
        .chain(&call.name)
        .chain(&call.arguments)
        .finalize()
        .into()
}
