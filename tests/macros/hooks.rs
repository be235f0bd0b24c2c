//! Methods that look at requests.

use std::borrow::Cow;
use std::sync::Arc;

use skills_engine::skill::{
    AttachContext, HookCall, HookEntry, HookFault, HookMethod, Instance, SkillType, ToolSelection,
    TurnRequest, gates,
};
use skills_engine::{Engine, skill, skill_tool};

use crate::support::{block_on, blocks};

/// Looks at requests, in sync methods.
#[skill]
#[derive(Default)]
struct Plain {
    greeting: String,
}

#[skill]
impl Plain {
    #[skill(supports)]
    fn is_wanted(&self, request: &TurnRequest) -> bool {
        gates::keyword(["hello"])(request)
    }

    #[skill(on_attach)]
    fn note(&self, request: &mut TurnRequest, cx: &AttachContext) {
        let session = cx.session_id().as_str().to_owned();
        request.attributes.insert("session".into(), session.into());
        cx.set_state(7_u8);
    }
}

mod elsewhere {
    use super::{AttachContext, ToolSelection, TurnRequest, skill};

    #[skill]
    impl super::Plain {
        #[skill(instructions)]
        pub(super) fn words(&self, request: &TurnRequest) -> Option<&str> {
            request.text.is_some().then_some(&*self.greeting)
        }

        #[skill(tools)]
        fn selection(&self, cx: &AttachContext, _request: &TurnRequest) -> ToolSelection {
            let known = cx.state::<u8>().is_some();
            ToolSelection::only(known.then_some("greet"))
        }
    }
}

type Fallible<T> = Result<T, std::num::ParseIntError>;

/// Looks at requests, in async methods that fail, of all kinds of receiver.
#[skill]
#[derive(Default)]
struct Waiting {
    number: u8,
}

#[skill]
impl Waiting {
    #[skill(supports)]
    async fn supports(self: Arc<Self>, request: &TurnRequest) -> Fallible<bool> {
        std::future::ready(()).await;
        Ok(text(request).parse::<u8>()? == self.number)
    }

    #[skill(on_attach)]
    async fn on_attach(self: &Arc<Self>, request: &mut TurnRequest) -> Result<(), String> {
        request.text = Some(format!("{} and {}", text(request), self.number));
        Ok(())
    }

    #[skill(instructions)]
    async fn instructions<'a>(&self, request: &'a TurnRequest) -> Result<Cow<'a, str>, String> {
        Ok(text(request).into())
    }

    #[cfg_attr(test, skill(tools))]
    async fn tools(&self) -> ToolSelection {
        ToolSelection::All
    }

    #[cfg(not(test))]
    #[skill(tools)]
    fn tools_elsewhere(&self) -> Absent {}
}

/// Attaches without changing the request.
#[skill]
#[derive(Default)]
struct Watching;

#[skill]
impl Watching {
    #[skill(on_attach)]
    fn watch(&self, request: &TurnRequest, cx: &AttachContext) -> Result<(), String> {
        cx.set_state(text(request).to_owned());
        Ok(())
    }

    #[skill(instructions)]
    fn always(&self) -> &'static str {
        "Watch."
    }
}

fn text(request: &TurnRequest) -> &str {
    request.text.as_deref().unwrap_or_default()
}

fn hooks<T: SkillType>() -> Vec<&'static HookMethod> {
    blocks::<T>()
        .into_iter()
        .flat_map(|block| block.hooks)
        .collect()
}

fn finish<T>(call: HookCall<'_, T>) -> Result<T, HookFault> {
    match call {
        HookCall::Ready(answer) => answer,
        HookCall::Pending(future) => block_on(future),
        _ => unreachable!("a new kind of call"),
    }
}

/// All hooks of an instance in the order of a turn; stops where one says no or fails.
fn attach<T: SkillType>(
    instance: &Arc<T>,
    request: &mut TurnRequest,
    cx: &AttachContext,
) -> Result<Option<(Option<String>, ToolSelection)>, HookFault> {
    let instance: Instance = instance.clone();
    let mut entries: Vec<HookEntry> = hooks::<T>().iter().map(|method| method.entry).collect();
    let order = ["supports", "on_attach", "instructions", "tools"];
    entries.sort_by_key(|entry| order.iter().position(|marker| *marker == entry.marker()));
    let mut given = (None, ToolSelection::All);
    for entry in entries {
        match entry {
            HookEntry::Supports(call) if !finish(call(&instance, request, cx))? => return Ok(None),
            HookEntry::Supports(_) => {}
            HookEntry::OnAttach(call) => finish(call(&instance, request, cx))?,
            HookEntry::Instructions(call) => given.0 = finish(call(&instance, request, cx))?,
            HookEntry::Tools(call) => given.1 = finish(call(&instance, request, cx))?,
            _ => unreachable!("a new kind of hook"),
        }
    }
    Ok(Some(given))
}

#[test]
fn sync_hooks_of_several_blocks() {
    let names: Vec<_> = hooks::<Plain>()
        .iter()
        .map(|method| (method.entry.marker(), method.name))
        .collect();
    let expected = [
        ("supports", "is_wanted"),
        ("on_attach", "note"),
        ("instructions", "words"),
        ("tools", "selection"),
    ];
    assert_eq!(names, expected);
    let plain = Arc::new(Plain {
        greeting: "Say hello.".to_owned(),
    });
    let cx = AttachContext::detached();
    let mut request = TurnRequest::user("Hello there");
    let (instructions, tools) = attach(&plain, &mut request, &cx).unwrap().unwrap();
    assert_eq!(instructions.as_deref(), Some("Say hello."));
    assert!(matches!(tools, ToolSelection::Only(names) if names == ["greet"]));
    assert_eq!(request.attributes["session"], "detached");
    assert_eq!(cx.state::<u8>().as_deref(), Some(&7));
    let declined = attach(&plain, &mut TurnRequest::user("Bye"), &cx).unwrap();
    assert!(declined.is_none());
}

#[test]
fn async_hooks_that_may_fail() {
    let waiting = Arc::new(Waiting { number: 3 });
    let cx = AttachContext::detached();
    let mut request = TurnRequest::user("3");
    let (instructions, tools) = attach(&waiting, &mut request, &cx).unwrap().unwrap();
    assert_eq!(instructions.as_deref(), Some("3 and 3"));
    assert!(matches!(tools, ToolSelection::All));
    let fault = attach(&waiting, &mut TurnRequest::user("three"), &cx).unwrap_err();
    assert_eq!(fault.to_string(), "invalid digit found in string");
}

#[test]
fn a_hook_need_not_change_the_request() {
    let cx = AttachContext::detached();
    let mut request = TurnRequest::user("this");
    let (instructions, _) = attach(&Arc::new(Watching), &mut request, &cx)
        .unwrap()
        .unwrap();
    assert_eq!(instructions.as_deref(), Some("Watch."));
    assert_eq!(*cx.state::<String>().unwrap(), "this");
}

#[test]
fn a_hook_is_an_ordinary_method() {
    let plain = Plain::default();
    assert!(plain.is_wanted(&TurnRequest::user("hello")));
    assert_eq!(plain.words(&TurnRequest::empty()), None);
}

/// Says twice whether it takes part.
#[skill(manual)]
struct Twice;

#[skill]
impl Twice {
    #[skill(supports)]
    fn first(&self) -> bool {
        true
    }

    /// Does nothing.
    #[skill_tool]
    fn act(&self) {}
}

mod again {
    use skills_engine::skill;

    #[skill]
    impl super::Twice {
        #[skill(supports)]
        pub(super) fn second(&self) -> bool {
            false
        }
    }
}

#[test]
fn two_hooks_of_one_kind_fail_the_build_which_names_both() {
    let builder = Engine::builder()
        .linked(skills_engine::source::Linked::None)
        .skill(Twice);
    let message = block_on(builder.build()).unwrap_err().to_string();
    assert!(
        message.contains("has two methods marked `#[skill(supports)]`"),
        "{message}"
    );
    for part in ["`first`", "`second`", "hooks.rs:", "keep one"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(Twice.first() && !Twice.second());
    Twice.act();
}
