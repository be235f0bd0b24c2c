use std::sync::Arc;

use super::Engine;
use super::inner::EngineInner;
use super::view::View;
use crate::audit::{AuditContents, ContentSource, ViewContents};
use crate::tools::Dialect;

impl Engine {
    /// What the changed views of this engine showed, when it was [told](super::EngineBuilder::audit_detail) to keep it.
    #[must_use]
    pub fn audit_contents(&self) -> Option<&AuditContents> {
        self.inner.contents.as_ref()
    }
}

impl EngineInner {
    /// Takes in what a view shows, when that is kept.
    pub(super) fn contents_of(&self, view: &Arc<View>, bytes: u64) -> Option<ViewContents> {
        let contents = self.contents.as_ref()?;
        Some(contents.offer(Arc::clone(view) as Arc<dyn ContentSource>, bytes))
    }
}

impl ContentSource for View {
    fn snapshots(&self) -> String {
        // In them, sensitive values are left out for everybody.
        self.snapshots()
    }

    fn prompt(&self) -> String {
        self.told_prompt()
    }

    fn tools(&self) -> String {
        self.tools_json(Dialect::Mcp).to_owned()
    }
}
