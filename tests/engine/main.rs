//! Black-box tests of the engine, one file per subject.

mod attributes;
mod audit_outage;
mod audit_trail;
mod building;
mod calls;
mod changes;
mod contention;
mod control;
mod dialects;
mod explain;
mod faults;
mod helpdesk;
mod hostile;
mod layers;
mod levels;
mod made;
mod programs;
mod prompt;
mod rule;
mod same_bytes;
mod session;
mod sessions;
mod stage;
mod turn_end;
