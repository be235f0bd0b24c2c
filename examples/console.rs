//! Shows everything by hand: a terminal in which a person plays the model, over all skills that are linked.
//!
//! One command a line, from the keyboard or through a pipe:
//!
//! ```sh
//! cargo run -p examples --example console
//! printf 'open helpdesk CONTEXT\ntools\n' | cargo run -p examples --example console
//! ```
//!
//! Folders of skills are named behind it: `cargo run -p examples --example console -- examples/skills`.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use serde_json::json;
use skills_engine::engine::{CallResult, ToolCall, TurnView};
use skills_engine::prompt::escape_terminal;
use skills_engine::skill::{Actor, TurnRequest};
use skills_engine::source::SkillFolders;
use skills_engine::{Engine, Principal, Session, Turn};

skills_engine::link!(helpdesk_skill);

/// Bytes of a line; what is longer is taken as several.
const MOST: u64 = 2 << 20;

const HELP: &str = "\
list                     skills and their levels
search WORDS             find skills
open SKILL LEVEL [turn | SECONDS]
                         open a skill: until it is closed, until the turn ends, or for a time
close SKILL              take back what you opened
tools                    tools you can call now
call TOOL JSON           call a tool
load SKILL [ARGUMENTS]   load a skill, as the model
/SKILL [ARGUMENTS]       begin a skill, as the user
prompt                   the text a model would be given now
snapshot SKILL           what a skill shows now, as JSON
explain SKILL MEMBER     why you can or cannot see a tool or attribute
turn                     end this turn and begin another
audit                    what was written down
help, quit
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let roots = std::env::args().skip(1);
    let folders = roots.fold(SkillFolders::new(), SkillFolders::user);
    let engine = Engine::builder().source(folders.required()).build().await?;
    for diagnostic in &engine.report().diagnostics {
        print(&diagnostic.to_string());
    }
    let session = engine.session(Principal::local(), "console").await?;
    let turn = session.turn(TurnRequest::empty()).await?;
    let mut console = Console {
        engine,
        session,
        turn,
        calls: 0,
    };
    println!("You are the model. `help` lists what you can type.");
    print(&console.list().await?);
    let mut lines = std::io::stdin().lock();
    let is_piped = !std::io::stdin().is_terminal();
    loop {
        print!("> ");
        std::io::stdout().flush()?;
        let mut line = Vec::new();
        if lines.by_ref().take(MOST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&line);
        if is_piped {
            print(line.trim());
        }
        if line.trim() == "quit" {
            break;
        }
        // What goes wrong is shown and ends nothing.
        match console.run(line.trim()).await {
            Ok(text) => print(&text),
            Err(err) => print(&err.to_string()),
        }
    }
    println!();
    console.turn.finish().await?;
    console.session.end("quit").await?;
    Ok(())
}

/// Prints text that anyone may have written.
fn print(text: &str) {
    if !text.is_empty() {
        println!("{}", escape_terminal(text.trim_end()));
    }
}

struct Console {
    engine: Engine,
    session: Session,
    turn: Turn,
    calls: u32,
}

impl Console {
    async fn run(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let words: Vec<_> = rest.split_whitespace().collect();
        match (command, &*words) {
            ("", _) => Ok(String::new()),
            ("help", []) => Ok(HELP.to_owned()),
            ("list", []) => self.list().await,
            ("search", [_, ..]) => {
                self.call("psl-skill__search_skills", json!({ "query": rest }))
                    .await
            }
            ("open", [skill, level, span @ ..]) => self.open(skill, level, span).await,
            ("close", [skill]) => {
                let arguments = json!({ "skill_id": skill });
                self.call("psl-skill__clear_visibility", arguments).await
            }
            ("tools", []) => self.tools().await,
            ("load", [skill, ..]) => {
                let arguments = rest[skill.len()..].trim();
                let arguments = json!({ "name": skill, "args": arguments });
                self.call("load_skill", arguments).await
            }
            (skill, _) if skill.starts_with('/') => {
                let begun = self.session.invoke(Actor::User, &skill[1..], rest);
                Ok(begun.await?.message)
            }
            ("call", [tool, ..]) => self.call(tool, rest[tool.len()..].trim()).await,
            ("prompt", []) => Ok(self.turn.view().await?.system_prompt().to_owned()),
            ("snapshot", [skill]) => {
                let view = self.turn.view().await?;
                Ok(view.snapshot(skill).ok_or("there is no such skill")?)
            }
            ("explain", [skill, member]) => {
                Ok(self.session.explain(skill, member).reasons.join("\n"))
            }
            ("turn", []) => {
                let next = self.session.turn(TurnRequest::empty()).await?;
                std::mem::replace(&mut self.turn, next).finish().await?;
                Ok("a new turn has begun".to_owned())
            }
            ("audit", []) => Ok(examples::audit_lines(&self.engine).await.join("\n")),
            _ => {
                Err("that is no command, or something is missing; `help` lists the commands".into())
            }
        }
    }

    async fn list(&mut self) -> Result<String, Box<dyn Error>> {
        let view = self.turn.view().await?;
        let mut out = String::new();
        for skill in self.engine.skills() {
            let definition = skill.definition();
            if let Some(level) = view.level(&definition.id) {
                let _ = writeln!(
                    out,
                    "{:<12} {level:<8}  {}",
                    definition.id, definition.description
                );
            }
        }
        Ok(out)
    }

    async fn tools(&mut self) -> Result<String, Box<dyn Error>> {
        let view: TurnView = self.turn.view().await?;
        let mut out = String::new();
        for tool in view.tools() {
            let schema = tool.input_schema();
            let _ = write!(
                out,
                "{}\n    {}\n    {schema}\n",
                tool.name(),
                tool.definition().description
            );
        }
        Ok(out)
    }

    async fn open(
        &mut self,
        skill: &str,
        level: &str,
        span: &[&str],
    ) -> Result<String, Box<dyn Error>> {
        let mut arguments = json!({ "skill_id": skill, "level": level.to_uppercase() });
        match span {
            [] => {}
            ["turn"] => arguments["ephemeral"] = true.into(),
            [seconds] => arguments["ttl_seconds"] = seconds.parse::<u64>()?.into(),
            _ => return Err("open SKILL LEVEL [turn | SECONDS]".into()),
        }
        self.call("psl-skill__set_skill_visibility", arguments)
            .await
    }

    /// Calls a tool as a model would: it sees a view first, and what was not in it does not run.
    async fn call(
        &mut self,
        tool: &str,
        arguments: impl ToString,
    ) -> Result<String, Box<dyn Error>> {
        self.turn.view().await?;
        self.calls += 1;
        let call = ToolCall::new(format!("call-{}", self.calls), tool, arguments.to_string());
        let results = self.turn.calls([call]).await;
        Ok(results.iter().map(CallResult::text).collect())
    }
}
