//! Shows skills that look at the request before they take part: a gate on its words, a gate on an attribute of the host,
//! instructions and tools that follow the request, and state that lasts as long as the session.
//!
//! Three turns of one session differ in their words and in the tenant that the host attached. What each turn is shown is
//! printed, and what its calls answer.
//!
//! `cargo run -p examples --example 05_dynamic`

use skills_engine::engine::ToolCall;
use skills_engine::skill::{
    AttachContext, Fault, NoArguments, SkillBuilder, Tool, ToolContext, ToolSelection, TurnRequest,
    gates,
};
use skills_engine::{Engine, Level, Principal, Session, Span, skill, skill_tool};

/// How many turns of a session were about invoices.
struct Turns(u32);

/// Answers questions about invoices.
#[skill]
#[derive(Default)]
struct Invoices;

#[skill]
impl Invoices {
    #[skill(supports)]
    fn is_about_invoices(&self, request: &TurnRequest) -> bool {
        gates::keyword(["invoice", "invoices", "refund"])(request)
    }

    #[skill(on_attach)]
    fn count(&self, _request: &mut TurnRequest, cx: &AttachContext) {
        let before = cx.state::<Turns>().map_or(0, |turns| turns.0);
        cx.set_state(Turns(before + 1));
    }

    #[skill(instructions)]
    fn advice(&self, request: &TurnRequest, cx: &AttachContext) -> Option<String> {
        let text = request.text.as_deref()?;
        let turns = cx.state::<Turns>()?.0;
        let advice = if text.contains("refund") {
            "# Refunds\nAsk for the reason before you refund anything."
        } else {
            "Name amounts with their currency."
        };
        Some(format!("{advice}\nTurns about invoices so far: {turns}."))
    }

    #[skill(tools)]
    fn selection(&self, request: &TurnRequest) -> ToolSelection {
        let is_refund = request
            .text
            .as_deref()
            .is_some_and(|text| text.contains("refund"));
        if is_refund {
            ToolSelection::All
        } else {
            ToolSelection::only(["find"])
        }
    }

    /// Finds an invoice.
    #[skill_tool(read_only)]
    fn find(&self, number: u32) -> String {
        format!("invoice {number}: 120.00 EUR, paid")
    }

    /// Pays an invoice back.
    #[skill_tool(destructive)]
    fn refund(&self, number: u32, cx: &ToolContext) -> String {
        let turns = cx.state::<Turns>().map_or(0, |turns| turns.0);
        format!("invoice {number} is paid back, in turn {turns} about invoices")
    }
}

/// A skill without a type: one tool for each warehouse of the tenant that the host names.
fn warehouses() -> SkillBuilder {
    SkillBuilder::new("warehouses")
        .description("Tells what the warehouses of a tenant have in stock.")
        .base_level(Level::Context)
        .supports(gates::attribute("tenant"))
        .dynamic_tools(|request: &TurnRequest| {
            let tenant = request
                .attributes
                .get("tenant")
                .and_then(|tenant| tenant.as_str());
            let places = match tenant {
                Some("acme") => vec!["berlin", "lyon"],
                Some(_) => vec!["oslo"],
                None => vec![],
            };
            ToolSelection::replace(places.into_iter().map(|place| {
                let answer = format!("40 pieces in {place}");
                let count = move |_: NoArguments, _: ToolContext| {
                    let answer = answer.clone();
                    async move { answer }
                };
                Tool::new(format!("count_{place}"), "Counts the stock.", count).read_only()
            }))
        })
}

async fn show(
    session: &Session,
    request: TurnRequest,
    calls: &[(&str, &str)],
) -> Result<(), Fault> {
    println!("== {}", request.text.as_deref().unwrap_or_default());
    let mut turn = session.turn(request).await?;
    let view = turn.view().await?;
    for tool in view.tools().filter(|tool| tool.skill() != "psl-skill") {
        println!("tool {}", tool.name());
    }
    print!("{}", view.prompt().turn);
    for (name, arguments) in calls {
        for result in &turn.calls([ToolCall::new("call", *name, *arguments)]).await {
            println!("> {name}\n{}", result.text());
        }
    }
    println!();
    turn.finish().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .with_skill(warehouses().build()?)
        .build()
        .await?;
    let session = engine.new_session(Principal::local()).await?;
    session
        .open("invoices", Level::Context, Span::UntilCleared, "")
        .await?;

    let find = ("invoices__find", r#"{"number": 7}"#);
    let refund = ("invoices__refund", r#"{"number": 7}"#);
    let lyon = ("warehouses__count_lyon", "{}");

    let request = TurnRequest::user("Was invoice 7 paid?");
    show(&session, request, &[find, refund]).await?;

    let request = TurnRequest::user("How many cups are left?").attribute("tenant", "acme");
    show(&session, request, &[find, lyon]).await?;

    let request = TurnRequest::user("Please refund it.").attribute("tenant", "polar");
    show(&session, request, &[refund, lyon]).await?;

    engine.shutdown().await?;
    Ok(())
}
