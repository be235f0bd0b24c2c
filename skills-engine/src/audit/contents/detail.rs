/// How much of what models were shown the audit trail keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditDetail {
    /// The digest of each changed view.
    #[default]
    Digest,
    /// The texts as well: the snapshots, the prompt and the tool list of each changed view, each distinct one once,
    /// in a [`ContentStore`](super::ContentStore). Values of sensitive attributes are left out.
    Content,
}

/// What names the texts of one view in their store: the SHA-256 of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ContentDigests {
    /// The snapshots of all skills, as one JSON array.
    pub snapshots: [u8; 32],
    /// The system prompt.
    pub prompt: [u8; 32],
    /// The tool list, as MCP has it.
    pub tools: [u8; 32],
}
