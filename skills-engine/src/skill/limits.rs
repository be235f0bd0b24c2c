use std::time::Duration;

/// Bounds on everything that input can drive. Sizes are bytes unless a name says otherwise.
///
#[doc = include_str!("../docs/limits.md")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Arguments of one call, as JSON text.
    pub arguments: usize,
    /// One result to the model; longer ones are cut and marked.
    pub result: usize,
    /// One attribute's value, as JSON text; and what one skill's hook gives as instructions, where longer ones are cut.
    pub attribute: usize,
    /// The values of all attributes of one view; and the descriptions and schemas of the tools that one skill's hook
    /// gives.
    pub view_attributes: usize,
    /// Characters of a string inside an attribute's value; longer ones are cut and marked.
    pub max_string_length: usize,
    /// Characters in which a view says again what is open, after earlier messages have gone.
    pub restated: usize,
    /// Characters of a reason.
    pub reason: usize,
    /// Characters of a search query.
    pub query: usize,
    /// The shortest time to live of a grant.
    pub min_ttl: Duration,
    /// The longest time to live of a grant.
    pub max_ttl: Duration,
    /// Grants that one session may hold.
    pub grants: usize,
    /// Sessions of one principal.
    pub sessions_per_principal: usize,
    /// Calls of one session in flight; never more than 65,535.
    pub calls_in_flight: usize,
    /// Calls in one reply of a model.
    pub calls_per_reply: usize,
    /// How long a tool may take unless it says otherwise.
    pub tool_timeout: Duration,
    /// How long a lazy attribute may take unless it says otherwise.
    pub lazy_timeout: Duration,
    /// How long all lazy attributes of one view may take together.
    pub view_deadline: Duration,
    /// How long one hook of a skill may take.
    pub hook_timeout: Duration,
    /// Tools that the hook of one skill may give for a turn.
    pub turn_tools: usize,
    /// How long a store may take.
    pub store_timeout: Duration,
    /// How long a source of skills may take.
    pub source_timeout: Duration,
    /// How long sources that tell of changes must have been quiet before an engine refreshes. Those that go on changing are
    /// waited for four times as long.
    pub refresh_debounce: Duration,
    /// After how much idle time a session is ended.
    pub session_idle: Duration,
    /// Threads that run blocking tools and blocking attributes; the tools of one session take half of them at most.
    pub blocking_threads: usize,
    /// What may wait for a person in one session: approvals and questions. Their arguments and texts together have at most
    /// four times the bytes of one call's arguments.
    pub approvals: usize,
    /// How long a person has to decide, and an approval counts.
    pub approval_ttl: Duration,
    /// Bytes of rendered views kept for reuse between sessions: a sixteenth of them for what was asked for once, so
    /// that views seen by one session alone never push out those that sessions share.
    pub view_cache: usize,
    /// Audit records that wait for a sink; more are counted and dropped.
    pub audit_queue: usize,
    /// Bytes of the views whose texts wait to be kept with the audit trail; those of more are counted and dropped.
    pub contents_waiting: usize,
    /// Bytes of the texts of views that are kept in memory, compressed.
    pub contents_kept: usize,
    /// How long the texts of views are kept after they were last shown.
    pub contents_retention: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            arguments: 1 << 20,
            result: 256 << 10,
            attribute: 16 << 10,
            view_attributes: 256 << 10,
            max_string_length: 2_048,
            restated: 2_000,
            reason: 500,
            query: 256,
            min_ttl: Duration::from_secs(1),
            max_ttl: Duration::from_secs(30 * 24 * 3_600),
            grants: 256,
            sessions_per_principal: 1_000,
            calls_in_flight: 64,
            calls_per_reply: 32,
            tool_timeout: Duration::from_secs(30),
            lazy_timeout: Duration::from_millis(500),
            view_deadline: Duration::from_secs(2),
            hook_timeout: Duration::from_millis(500),
            turn_tools: 256,
            store_timeout: Duration::from_secs(2),
            source_timeout: Duration::from_secs(30),
            refresh_debounce: Duration::from_millis(250),
            session_idle: Duration::from_secs(24 * 3_600),
            blocking_threads: 64,
            approvals: 64,
            approval_ttl: Duration::from_secs(15 * 60),
            view_cache: 64 << 20,
            audit_queue: 65_536,
            contents_waiting: 64 << 20,
            contents_kept: 64 << 20,
            contents_retention: Duration::from_secs(30 * 24 * 3_600),
        }
    }
}
