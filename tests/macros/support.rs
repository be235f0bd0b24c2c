//! Finds entries and calls them, without an engine.

use std::any::TypeId;
use std::sync::Arc;

use serde_json::Value;
use skills_engine::__private::inventory;
use skills_engine::skill::{
    AttributeContext, AttributeEntry, BlockEntry, Call, Content, Instance, ReadEntry, SkillType,
    ToolContext, ToolEntry, ToolResult,
};

/// The blocks of a type, in the order of their places.
pub fn blocks<T: SkillType>() -> Vec<&'static BlockEntry> {
    let mut blocks: Vec<_> = inventory::iter::<BlockEntry>
        .into_iter()
        .filter(|block| (block.type_id)() == TypeId::of::<T>())
        .collect();
    blocks.sort_by_key(|block| block.place);
    blocks
}

#[track_caller]
pub fn tool<T: SkillType>(name: &str) -> &'static ToolEntry {
    find_tool::<T>(name).unwrap_or_else(|| panic!("no tool {name}"))
}

pub fn find_tool<T: SkillType>(name: &str) -> Option<&'static ToolEntry> {
    blocks::<T>()
        .into_iter()
        .flat_map(|block| block.tools)
        .find(|tool| tool.name == name)
}

pub fn find_attribute<T: SkillType>(name: &str) -> Option<&'static AttributeEntry> {
    blocks::<T>()
        .into_iter()
        .flat_map(|block| block.attributes)
        .chain(T::entry().attributes)
        .find(|attribute| attribute.name == name)
}

#[track_caller]
pub fn attribute<T: SkillType>(name: &str) -> &'static AttributeEntry {
    find_attribute::<T>(name).unwrap_or_else(|| panic!("no attribute {name}"))
}

/// Calls a tool to its end.
pub async fn finish(call: Call) -> ToolResult {
    match call {
        Call::Ready(result) => result,
        Call::Pending(future) => future.await,
        Call::Blocking(run) => run(),
        _ => unreachable!("a new kind of call"),
    }
}

/// Calls a tool of an instance with JSON arguments; `Err` has the text of the fault.
#[track_caller]
pub fn call<T: SkillType>(
    instance: &Arc<T>,
    name: &str,
    arguments: &str,
) -> Result<String, String> {
    let shared: Instance = instance.clone();
    let call = (tool::<T>(name).call)(&shared, arguments.as_bytes(), &ToolContext::detached());
    let result = block_on(finish(call)).map_err(|fault| fault.to_string())?;
    Ok(match result.content() {
        [Content::Text(text)] => text.clone(),
        [Content::Json(json)] => json.clone(),
        other => format!("{other:?}"),
    })
}

/// Reads an attribute of an instance.
#[track_caller]
pub fn read<T: SkillType>(instance: &Arc<T>, name: &str) -> Result<Value, String> {
    let shared: Instance = instance.clone();
    let cx = AttributeContext::detached();
    let mut out = Vec::new();
    match attribute::<T>(name).read {
        ReadEntry::Sync(read) => read(&shared, &cx, &mut out).map_err(|fault| fault.to_string())?,
        ReadEntry::Async(read) => {
            out = block_on(read(&shared, cx)).map_err(|fault| fault.to_string())?;
        }
        _ => unreachable!("a new kind of reading"),
    }
    Ok(serde_json::from_slice(&out).unwrap())
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}
