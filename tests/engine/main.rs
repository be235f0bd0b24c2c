//! Black-box tests of the engine, one file per subject.
#![allow(
    clippy::unwrap_used,
    reason = "what tests share stops at the first surprise too"
)]
#![allow(
    clippy::unused_async,
    clippy::unused_self,
    reason = "a skill's members are methods, and its tools may be async, however little they do"
)]

mod approvals;
mod attributes;
mod audit_content;
mod audit_outage;
mod audit_trail;
mod building;
mod calls;
mod catalogue;
mod changes;
mod compaction;
mod composers;
mod content_faults;
mod content_rule;
mod content_texts;
mod contention;
mod control;
mod dialects;
mod explain;
mod faults;
mod folders;
mod following;
mod governance;
mod helpdesk;
mod hooks;
mod hostile;
mod instances;
mod kept_open;
mod layers;
mod levels;
mod loading;
mod loading_rule;
mod machine;
mod made;
mod probe;
mod profiles;
mod programs;
mod prompt;
mod refresh;
mod repeated;
mod review;
mod review_governance;
mod review_lazy;
mod review_registry;
mod review_rule;
mod rule;
mod same_bytes;
mod search;
mod sensitive;
mod session;
mod sessions;
mod settings;
mod skill_events;
mod sources;
mod spans;
#[allow(dead_code, reason = "the binary `memory` uses the rest")]
mod stage;
mod store_events;
mod template;
mod turn_end;
