//! Shows who may: two roles, a call that a person must approve, and a call that is denied and explained.
//!
//! Ada's role lets her sessions deploy and roll back; Bob's lets his look. Rolling back needs an approval, which the host
//! leaves to be given later. Every step is in the audit trail, which is printed at the end.
//!
//! `cargo run -p examples --example 04_governance`

use std::sync::{Mutex, PoisonError};

use examples::audit_lines;
use skills_engine::engine::{ApprovalAnswer, ApprovalKind, LeavePending, ToolCall};
use skills_engine::{
    Engine, Level, Principal, Session, Span, Turn, skill, skill_attribute, skill_tool,
};

/// Deploys services and takes deployments back.
#[skill]
#[derive(Default)]
struct Deploy {
    releases: Mutex<Vec<String>>,
}

#[skill]
impl Deploy {
    /// How many releases there were.
    #[skill_attribute(level = Metadata)]
    fn releases(&self) -> usize {
        self.log().len()
    }

    /// Says what runs.
    #[skill_tool(level = Metadata, read_only)]
    fn status(&self) -> String {
        self.log()
            .last()
            .cloned()
            .unwrap_or_else(|| "nothing runs".to_owned())
    }

    /// Deploys a version of a service.
    #[skill_tool]
    fn deploy(&self, service: &str, version: &str) -> String {
        let release = format!("{service} {version}");
        self.log().push(release.clone());
        format!("{release} is deployed")
    }

    /// Takes the last release back.
    #[skill_tool(level = Complete, destructive, requires_approval)]
    fn roll_back(&self) -> Result<String, &'static str> {
        let release = self.log().pop().ok_or("there is no release to take back")?;
        Ok(format!("{release} is taken back"))
    }
}

impl Deploy {
    fn log(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes one call as a model would, and prints what the model reads.
async fn call(
    turn: &mut Turn,
    name: &str,
    arguments: &str,
) -> Option<skills_engine::engine::ApprovalToken> {
    println!("> {name} {arguments}");
    let results = turn.calls([ToolCall::new("call", name, arguments)]).await;
    let result = results.iter().next()?;
    println!("{}", result.text());
    result.pending.clone()
}

fn explain(session: &Session, member: &str) {
    println!(
        "Why does the model of {} not see `{member}`?",
        session.principal().id()
    );
    for reason in session.explain("deploy", member).reasons.iter().skip(1) {
        println!("- {reason}");
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .role("release-manager", |role| {
            role.allow("deploy", Level::Complete)
                .allow("psl-skill", Level::Complete)
        })
        .role("viewer", |role| {
            role.allow("deploy/status", Level::Metadata)
                .allow("psl-skill", Level::Complete)
        })
        .approvals(LeavePending)
        .build()
        .await?;

    println!("-- Bob looks");
    let bob = engine
        .session(Principal::new("bob", ["viewer"]), "bob-1")
        .await?;
    let mut turn = bob.turn("Roll payments back!").await?;
    turn.view().await?;
    call(&mut turn, "deploy__status", "{}").await;
    call(&mut turn, "deploy__roll_back", "{}").await;
    explain(&bob, "roll_back");
    turn.finish().await?;

    println!("\n-- Ada deploys");
    let ada = engine
        .session(Principal::new("ada", ["release-manager"]), "ada-1")
        .await?;
    ada.open("deploy", Level::Complete, Span::UntilCleared, "release day")
        .await?;
    let mut turn = ada.turn("Deploy payments 1.4, then roll it back.").await?;
    turn.view().await?;
    let arguments = r#"{"service": "payments", "version": "1.4"}"#;
    call(&mut turn, "deploy__deploy", arguments).await;
    let pending = call(&mut turn, "deploy__roll_back", "{}").await;
    turn.finish().await?;

    println!("\n-- A person decides");
    let token = pending.ok_or("the call waits for a person")?;
    for request in ada.approvals() {
        if let ApprovalKind::Tool { skill, tool, .. } = &request.kind {
            println!("{} asks for `{tool}` of `{skill}`", request.principal.id());
        }
    }
    ada.answer(&token, ApprovalAnswer::Approve)?;
    let mut turn = ada.turn("Go on.").await?;
    turn.view().await?;
    println!("{}", turn.resume(&token).await?.text());
    if let Err(refused) = turn.resume(&token).await {
        println!("Once more: {refused}");
    }
    turn.finish().await?;

    println!("\n-- The host narrows");
    ada.limit("deploy", Level::Metadata).await?;
    explain(&ada, "deploy");

    println!("\n-- The audit trail");
    for line in audit_lines(&engine).await {
        println!("{line}");
    }
    Ok(())
}
