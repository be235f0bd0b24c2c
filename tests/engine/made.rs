//! Tools and skills made at run time, in few words.

use std::sync::Arc;

use skills_engine::skill::{
    BoxFuture, BuiltSkill, Code, Fault, Level, NoArguments, Resource, ResourcePart, SkillBuilder,
    SkillContent, Tool, ToolContext,
};

/// A tool without arguments, visible from METADATA on.
pub(crate) fn tool<F>(
    name: &'static str,
    act: impl Fn(ToolContext) -> F + Send + Sync + 'static,
) -> Tool
where
    F: Future<Output: skills_engine::skill::IntoToolResult> + Send + 'static,
{
    Tool::new(name, "", move |_: NoArguments, cx| act(cx)).level(Level::Metadata)
}

/// A skill with these tools.
pub(crate) fn skill(id: &'static str, tools: impl IntoIterator<Item = Tool>) -> BuiltSkill {
    tools
        .into_iter()
        .fold(SkillBuilder::new(id), SkillBuilder::tool)
        .build()
        .expect("ids and names are legal")
}

/// Content held in memory.
pub(crate) struct Held {
    body: Arc<str>,
    resources: Vec<Resource>,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Held {
    pub(crate) fn new(body: &str) -> Self {
        Self {
            body: body.into(),
            resources: Vec::new(),
            files: Vec::new(),
        }
    }

    pub(crate) fn file(mut self, path: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.resources.push(Resource::new(path, bytes.len() as u64));
        self.resources
            .sort_by(|left, right| left.path.cmp(&right.path));
        self.files.push((path, bytes));
        self
    }
}

impl SkillContent for Held {
    fn digest(&self) -> [u8; 32] {
        // Any digest does: nobody makes it again.
        let mut digest = [0_u8; 32];
        for (index, byte) in self.body.bytes().enumerate() {
            digest[index % 32] = digest[index % 32].wrapping_mul(31).wrapping_add(byte);
        }
        digest
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(async { Ok(Arc::clone(&self.body)) })
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn read<'a>(
        &'a self,
        path: &'a str,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(async move {
            let (_, bytes) = self
                .files
                .iter()
                .find(|(name, _)| *name == path)
                .ok_or_else(|| Fault::new(Code::InvalidArguments, "it is not listed"))?;
            let start = usize::try_from(offset).unwrap().min(bytes.len());
            let part = bytes[start..].iter().copied().take(limit).collect();
            Ok(ResourcePart::new(part, offset, bytes.len() as u64))
        })
    }

    fn base_dir(&self) -> Option<&str> {
        Some("/skills/deploy")
    }
}
