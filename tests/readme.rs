//! What the README and the documentation show is what there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skills_engine::skill::{Limits, TurnRequest};
use skills_engine::source::Linked;
use skills_engine::{Engine, Level, Principal, Span, skill, skill_attribute, skill_tool};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[track_caller]
fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The blocks of a Markdown text: what follows the fence, and what the block holds.
fn blocks(markdown: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut is_inside = false;
    for line in markdown.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_inside = !is_inside;
            if is_inside {
                blocks.push((language, String::new()));
            }
        } else if let (true, Some((_, block))) = (is_inside, blocks.last_mut()) {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks
}

#[test]
fn the_program_of_the_readme_is_the_first_example_with_its_output() {
    let readme = text("README.md");
    let blocks = blocks(&readme);
    let program = blocks
        .iter()
        .position(|(language, _)| language.starts_with("rust"))
        .expect("the README has a program");
    assert_eq!(blocks[program].1, text("examples/01_quickstart.rs"));
    assert_eq!(blocks[program + 1].0, "text");
    assert_eq!(
        blocks[program + 1].1,
        text("examples/expected/01_quickstart.txt")
    );
}

#[test]
fn every_block_of_the_readme_is_of_a_kind_that_is_checked() {
    let readme = text("README.md");
    for (language, block) in blocks(&readme) {
        match language {
            // Doctests of the library, and the output of the program above.
            "rust" | "rust,standalone_crate" | "text" => {}
            "sh" => block.lines().for_each(assert_command_exists),
            other => panic!("nothing checks a block of `{other}`:\n{block}"),
        }
    }
}

/// A command of the README names a script, an example or a package that is there.
#[track_caller]
fn assert_command_exists(command: &str) {
    let words: Vec<_> = command.split_whitespace().collect();
    let manifest = text("skills-engine/Cargo.toml") + &text("Cargo.toml");
    match *words {
        ["cargo", "add", package, ..] => {
            assert!(
                manifest.contains(&format!("name = \"{package}\""))
                    || manifest.contains(&format!("\n{package} = ")),
                "{command}"
            );
        }
        ["cargo", "run", "-p", "examples", "--example", name, ..] => {
            assert!(
                root().join(format!("examples/{name}.rs")).exists(),
                "{command}"
            );
        }
        [script] => assert!(root().join(script).exists(), "{command}"),
        _ => panic!("nothing checks the command `{command}`"),
    }
}

#[test]
fn links_of_the_readme_lead_somewhere() {
    let readme = text("README.md");
    let links: Vec<_> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://"))
        .collect();
    assert!(links.len() > 5, "{links:?}");
    for link in links {
        assert!(root().join(link).exists(), "{link}");
    }
}

#[test]
fn the_limits_on_their_page_are_the_defaults() {
    let Limits {
        arguments,
        result,
        attribute,
        view_attributes,
        max_string_length,
        restated,
        reason,
        query,
        min_ttl,
        max_ttl,
        grants,
        sessions_per_principal,
        calls_in_flight,
        calls_per_reply,
        tool_timeout,
        lazy_timeout,
        view_deadline,
        hook_timeout,
        turn_tools,
        store_timeout,
        source_timeout,
        refresh_debounce,
        session_idle,
        blocking_threads,
        approvals,
        approval_ttl,
        view_cache,
        audit_queue,
        contents_waiting,
        contents_kept,
        contents_retention,
        ..
    } = Limits::default();
    let rows = [
        ("arguments", bytes(arguments)),
        ("result", bytes(result)),
        ("attribute", bytes(attribute)),
        ("view_attributes", bytes(view_attributes)),
        ("max_string_length", max_string_length.to_string()),
        ("restated", restated.to_string()),
        ("reason", reason.to_string()),
        ("query", query.to_string()),
        ("min_ttl", time(min_ttl)),
        ("max_ttl", time(max_ttl)),
        ("grants", grants.to_string()),
        ("sessions_per_principal", sessions_per_principal.to_string()),
        ("calls_in_flight", calls_in_flight.to_string()),
        ("calls_per_reply", calls_per_reply.to_string()),
        ("tool_timeout", time(tool_timeout)),
        ("lazy_timeout", time(lazy_timeout)),
        ("view_deadline", time(view_deadline)),
        ("hook_timeout", time(hook_timeout)),
        ("turn_tools", turn_tools.to_string()),
        ("store_timeout", time(store_timeout)),
        ("source_timeout", time(source_timeout)),
        ("refresh_debounce", time(refresh_debounce)),
        ("session_idle", time(session_idle)),
        ("blocking_threads", blocking_threads.to_string()),
        ("approvals", approvals.to_string()),
        ("approval_ttl", time(approval_ttl)),
        ("view_cache", bytes(view_cache)),
        ("audit_queue", audit_queue.to_string()),
        ("contents_waiting", bytes(contents_waiting)),
        ("contents_kept", bytes(contents_kept)),
        ("contents_retention", time(contents_retention)),
    ];
    let limits = text("skills-engine/src/docs/limits.md");
    for (field, value) in &rows {
        let row = format!(" | `{field}` | {value} |");
        assert!(limits.contains(&row), "the page of limits lacks `{row}`");
    }
    let shown = format!("{:?}", Limits::default());
    let fields = shown.matches(": ").count();
    assert_eq!(fields, rows.len(), "a limit is not on the page: {shown}");
}

fn bytes(count: usize) -> String {
    match count {
        mebi if mebi.is_multiple_of(1 << 20) => format!("{} MiB", mebi >> 20),
        other => format!("{} KiB", other >> 10),
    }
}

fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        seconds if seconds > 86_400 => format!("{} days", seconds / 86_400),
        seconds if seconds.is_multiple_of(3_600) => format!("{} h", seconds / 3_600),
        seconds => format!("{seconds} s"),
    }
}

/// Answers help-desk questions and manages tickets.
#[skill(tags = ["support"])]
struct Helpdesk {
    /// Default time to resolve a ticket.
    #[skill_attribute(level = Metadata)]
    default_sla: &'static str,
    open: u32,
}

impl Default for Helpdesk {
    fn default() -> Self {
        Self {
            default_sla: "24h",
            open: 3,
        }
    }
}

#[skill]
impl Helpdesk {
    /// Tickets that wait for an answer.
    #[skill_attribute]
    fn open_tickets(&self) -> u32 {
        self.open
    }

    /// Looks up the FAQ entry for a ticket.
    #[skill_tool(read_only)]
    fn get_ticket_faq(&self, ticket_id: &str) -> String {
        format!("{ticket_id}: one of {}", self.open)
    }
}

#[tokio::test]
async fn the_default_prompt_is_the_one_in_the_documentation() {
    let engine = Engine::builder()
        .linked(Linked::None)
        .skill(Helpdesk::default())
        .build()
        .await
        .expect("the engine is built");
    let session = engine
        .new_session(Principal::local())
        .await
        .expect("a session begins");
    session
        .open("helpdesk", Level::Context, Span::UntilCleared, "")
        .await
        .expect("the skill is opened");
    let mut turn = session
        .turn(TurnRequest::empty())
        .await
        .expect("a turn begins");
    let view = turn.view().await.expect("there is a view");
    let shown = text("skills-engine/src/prompt/introduction.txt")
        + "\n"
        + &text("skills-engine/src/prompt/example.txt");
    assert_eq!(view.system_prompt(), shown);
}
