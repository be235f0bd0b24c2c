use std::fmt;
use std::sync::Arc;

use super::approval::ApprovalToken;
use super::fence::fenced;
use crate::skill::{Code, Fault, ToolOutput};

/// What a call that failed for the third time in a row is answered beside its failure.
const LAST_FAILURE: &str = "This call has now failed three times in a row. Stop repeating it: it will not be run again. \
                            Try something else, or tell the user what does not work.";

/// A call that a model asked for. `Debug` leaves out the arguments: some may be sensitive.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the model gave the call.
    pub id: Arc<str>,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments, as JSON text; empty counts as `{}`.
    pub arguments: String,
}

impl ToolCall {
    /// A call with its arguments as JSON text.
    pub fn new(
        id: impl Into<Arc<str>>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &format_args!("{} bytes", self.arguments.len()))
            .finish()
    }
}

/// What became of one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult {
    /// The id of the call.
    pub call_id: Arc<str>,
    /// The name that was called.
    pub name: String,
    /// What the tool gave, or why it gave nothing.
    pub outcome: Result<ToolOutput, Fault>,
    /// Whether the tool's result is meant to be the answer.
    pub return_direct: bool,
    /// What the host answers, or has carried out later, when the call waits for a person.
    pub pending: Option<ApprovalToken>,
    /// Whether the same call, failed so often in a row, is not run again.
    pub(super) is_last_failure: bool,
    pub(super) most_bytes: usize,
}

/// What became of a call, before it is put together with what the call itself says.
pub(super) struct Answer {
    pub(super) outcome: Result<ToolOutput, Fault>,
    pub(super) return_direct: bool,
    pub(super) pending: Option<ApprovalToken>,
    pub(super) is_last_failure: bool,
}

impl Answer {
    /// A call that did not succeed.
    pub(super) fn refused(fault: Fault) -> Self {
        Self {
            outcome: Err(fault),
            return_direct: false,
            pending: None,
            is_last_failure: false,
        }
    }

    /// The result of a call, whose text has so many bytes at most.
    pub(super) fn of(self, call: ToolCall, most_bytes: usize) -> CallResult {
        const MOST_CHARACTERS: usize = 128;
        let mut name = call.name;
        // A model may make up a long one.
        if name.len() > MOST_CHARACTERS
            && let Some((end, _)) = name.char_indices().nth(MOST_CHARACTERS)
        {
            name.truncate(end);
            name.shrink_to_fit();
        }
        CallResult {
            call_id: call.id,
            name,
            outcome: self.outcome,
            return_direct: self.return_direct,
            pending: self.pending,
            is_last_failure: self.is_last_failure,
            most_bytes,
        }
    }
}

/// A result as a message for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultMessage {
    /// The id of the call it answers.
    pub call_id: Arc<str>,
    /// The name that was called.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl CallResult {
    /// The result as text: a tool's as it is, or the failure as `code: message`; cut at the limit and marked. A call
    /// that failed for the third time in a row is told to stop.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.own_text();
        self.add_warning(&mut text);
        text
    }

    fn own_text(&self) -> String {
        let (text, _) = match &self.outcome {
            Ok(output) => output.to_model_text(self.most_bytes),
            Err(fault) => ToolOutput::text(fault.to_string()).to_model_text(self.most_bytes),
        };
        text
    }

    fn add_warning(&self, text: &mut String) {
        if self.is_last_failure {
            text.push('\n');
            text.push_str(LAST_FAILURE);
        }
    }

    /// The result as a message: what a tool gave, its errors included, is data, fenced with its origin.
    #[must_use]
    pub fn message(&self) -> ResultMessage {
        let text = self.own_text();
        let is_of_tool = match &self.outcome {
            Ok(_) => true,
            Err(fault) => fault.code == Code::ToolError,
        };
        let mut text = if is_of_tool {
            fenced(&self.name, &text)
        } else {
            text
        };
        self.add_warning(&mut text);
        ResultMessage {
            call_id: Arc::clone(&self.call_id),
            name: self.name.clone(),
            text,
            is_error: self.outcome.is_err(),
        }
    }
}

/// What became of the calls of one reply, in the order of the calls.
#[derive(Clone, Debug)]
pub struct CallResults {
    pub(super) results: Vec<CallResult>,
}

impl CallResults {
    /// The results, in the order of the calls.
    pub fn iter(&self) -> std::slice::Iter<'_, CallResult> {
        self.results.iter()
    }

    /// The results as messages for the model: one for each call.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = ResultMessage> {
        self.results.iter().map(CallResult::message)
    }

    /// Whether the results are the answer: every call was of a tool whose result is, and succeeded.
    #[must_use]
    pub fn return_direct(&self) -> bool {
        !self.results.is_empty()
            && self
                .results
                .iter()
                .all(|result| result.return_direct && result.outcome.is_ok())
    }
}

impl<'a> IntoIterator for &'a CallResults {
    type Item = &'a CallResult;
    type IntoIter = std::slice::Iter<'a, CallResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CallResults {
    type Item = CallResult;
    type IntoIter = std::vec::IntoIter<CallResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

/// The id of a call for its records, which show 128 characters of it: the rest must take no room while they wait.
pub(super) fn recorded_id(id: &Arc<str>) -> Arc<str> {
    const MOST: usize = 128;
    if id.len() <= MOST {
        return Arc::clone(id);
    }
    // One character more than is shown, so that the record shows that it was cut.
    let cut: String = id.chars().take(MOST + 1).collect();
    cut.into()
}
