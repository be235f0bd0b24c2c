use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::access::Access;
use super::attached::{Attached, TurnTools, turn_tool_facts};
use super::cell::Cell;
use super::change::ended;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::layout::Layout;
use super::load::Given;
use super::narrow::{is_allowed, narrow};
use super::resolved::Resolved;
use super::rights::Rights;
use super::sight::reading;
use crate::registry::{RegisteredTool, SkillIndex, ToolIndex};
use crate::session::{
    AllowList, Decision, MemberFacts, SessionState, SkillFacts, TurnGrants, TurnStanding, Why,
    decide,
};
use crate::skill::{Code, Fault, Timestamp, TurnId, lock};

/// What a turn and the tools it calls share.
pub(super) struct TurnCore {
    pub(super) engine: Arc<EngineInner>,
    pub(super) cell: Arc<Cell>,
    pub(super) epoch: Arc<Epoch>,
    pub(super) id: TurnId,
    /// The lists that the request brought.
    pub(super) lists: Arc<[AllowList]>,
    /// What hooks made of the turn, where there are any.
    pub(super) attached: Option<Arc<Attached>>,
    grants: Mutex<TurnGrants>,
    rights: Mutex<Option<Resolved>>,
    /// Counts changes of the grants.
    edition: AtomicU64,
    has_ended: AtomicBool,
    /// Whether a tool that reaches into the open world has answered.
    untrusted_seen: AtomicBool,
    /// Bodies in results that were not handed out yet: when these are dropped, nobody has them.
    giving: Mutex<Vec<Given>>,
    missing_bodies: Mutex<Vec<SkillIndex>>,
}

impl TurnCore {
    pub(super) fn new(
        engine: Arc<EngineInner>,
        cell: Arc<Cell>,
        epoch: Arc<Epoch>,
        id: TurnId,
        lists: Arc<[AllowList]>,
        attached: Option<Arc<Attached>>,
    ) -> Self {
        Self {
            engine,
            cell,
            epoch,
            id,
            lists,
            attached,
            grants: Mutex::default(),
            rights: Mutex::default(),
            edition: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            untrusted_seen: AtomicBool::new(false),
            giving: Mutex::default(),
            missing_bodies: Mutex::default(),
        }
    }

    pub(super) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// What roles, lists, switches, a parent and hooks let through now: `access` is what the session's cell says.
    pub(super) fn with_rights<T>(
        &self,
        access: Option<&Arc<Access>>,
        look: impl FnOnce(&Arc<Rights>) -> T,
    ) -> T {
        self.with_resolved(access, |resolved| look(&resolved.rights))
    }

    fn with_resolved<T>(
        &self,
        access: Option<&Arc<Access>>,
        look: impl FnOnce(&Resolved) -> T,
    ) -> T {
        let mut kept = lock(&self.rights);
        if let Some(resolved) = &*kept
            && resolved.holds(&self.engine, access)
            && resolved.narrowing == self.narrowing(&self.epoch, &resolved.rights)
        {
            return look(resolved);
        }
        let resolved = self.resolve(&self.epoch, access);
        look(kept.insert(resolved))
    }

    /// Works out what the turn sees at most of a registry, which is mostly its own.
    pub(super) fn resolve(&self, epoch: &Arc<Epoch>, access: Option<&Arc<Access>>) -> Resolved {
        let Self { engine, cell, .. } = self;
        let mut resolved = engine.resolve(epoch, cell, access, &self.lists);
        if let Some(attached) = self
            .attached
            .as_deref()
            .filter(|_| Arc::ptr_eq(epoch, &self.epoch))
        {
            resolved.rights = attached.restrict(epoch, resolved.rights);
            let tools = attached.tools().iter();
            let (governance, now) = (&engine.governance, engine.clock.now());
            let facts =
                |tool| turn_tool_facts(governance, epoch, cell, access, &self.lists, tool, now);
            resolved.turn_tools = tools.map(|(_, tool)| facts(tool)).collect();
        }
        self.narrow(epoch, &mut resolved);
        resolved
    }

    /// Leaves the tools that open skills list, where any has a list that holds.
    fn narrow(&self, epoch: &Epoch, resolved: &mut Resolved) {
        resolved.narrowing = self.narrowing(epoch, &resolved.rights);
        if resolved.narrowing.is_empty() {
            return;
        }
        resolved.rights = narrow(epoch, Arc::clone(&resolved.rights), &resolved.narrowing);
        let own = self.turn_tools().into_iter().flat_map(TurnTools::iter);
        for (facts, (index, tool)) in resolved.turn_tools.iter_mut().zip(own) {
            let on_wire = self.tool_name(index);
            if !is_allowed(epoch, &resolved.narrowing, tool.skill, &tool.name, on_wire) {
                facts.denied.get_or_insert(Why::NotAllowed);
            }
        }
    }

    /// The open skills whose lists of tools hold.
    pub(super) fn narrowing(&self, epoch: &Epoch, rights: &Rights) -> Box<[SkillIndex]> {
        let engine = &self.engine;
        if !engine.narrows() {
            return Box::default();
        }
        let (state, now) = (self.cell.published().1, engine.clock.now());
        self.with_grants(|grants| engine.narrowing(epoch, rights, &state, grants, now))
    }

    /// What the rule needs to know of a tool, and whether the model can open skills by itself.
    pub(super) fn tool_facts(
        &self,
        access: Option<&Arc<Access>>,
        tool: ToolIndex,
    ) -> (SkillFacts, MemberFacts, bool) {
        let registry = &self.epoch.registry;
        let skill = self.tool(tool).skill;
        self.with_resolved(access, |resolved| {
            let rights = &resolved.rights;
            let member = match self.turn_tools().and_then(|tools| tools.position(tool)) {
                Some(position) => resolved.turn_tools[position],
                None => rights.tool(registry, tool),
            };
            (rights.skill(registry, skill), member, rights.has_control())
        })
    }

    fn turn_tools(&self) -> Option<&TurnTools> {
        self.attached.as_deref().map(Attached::tools)
    }

    /// A tool by its name on the wire: one of the registry, or of the turn.
    pub(super) fn find_tool(&self, name: &str) -> Option<ToolIndex> {
        let registered = self.epoch.catalogue.find(name);
        registered.or_else(|| self.turn_tools()?.find(name))
    }

    /// A tool of the registry, or of the turn.
    pub(super) fn tool(&self, tool: ToolIndex) -> &RegisteredTool {
        match self.turn_tools().and_then(|tools| tools.get(tool)) {
            Some((_, own)) => own,
            None => self.epoch.registry.tool(tool),
        }
    }

    /// The name of a tool on the wire.
    pub(super) fn tool_name(&self, tool: ToolIndex) -> &Arc<str> {
        match self.turn_tools().and_then(|tools| tools.get(tool)) {
            Some((name, _)) => name,
            None => self.epoch.catalogue.name(tool),
        }
    }

    /// Whether a tool is of this turn alone.
    pub(super) fn has_of_its_own(&self, tool: ToolIndex) -> bool {
        self.turn_tools()
            .is_some_and(|tools| tools.get(tool).is_some())
    }

    /// The tool that the turn alone has of a skill, by its own name.
    pub(super) fn own_tool(&self, skill: SkillIndex, name: &str) -> Option<ToolIndex> {
        self.turn_tools()?.of_skill(skill, name)
    }

    /// The turn's own tools of a skill, or of all.
    pub(super) fn own_tools(&self, skill: Option<SkillIndex>) -> impl Iterator<Item = ToolIndex> {
        let tools = self.turn_tools().into_iter().flat_map(TurnTools::iter);
        let tools = tools.filter(move |(_, tool)| skill.is_none_or(|skill| tool.skill == skill));
        tools.map(|(index, _)| index)
    }

    /// What the rule needs to know of a tool that the turn alone has, by the id of its skill and its own name.
    pub(super) fn own_tool_facts(&self, skill: &str, name: &str) -> Option<MemberFacts> {
        let (skill, _) = self.epoch.registry.find(skill)?;
        let tool = self.own_tool(skill, name)?;
        Some(self.tool_facts(self.cell.access().as_ref(), tool).1)
    }

    /// What the rule says of a tool now.
    pub(super) fn decide(&self, tool: ToolIndex, now: Timestamp) -> Decision {
        let (state, access) = self.cell.standing();
        self.decide_in(tool, &state, access.as_ref(), now)
    }

    fn decide_in(
        &self,
        tool: ToolIndex,
        state: &SessionState,
        access: Option<&Arc<Access>>,
        now: Timestamp,
    ) -> Decision {
        let id = &self.epoch.registry.skill(self.tool(tool).skill).id;
        let turn = self.standing(id, state);
        let (facts, member, _) = self.tool_facts(access, tool);
        decide(Some(&facts), Some(&member), &state.standing(id), turn, now)
    }

    /// The turn's own tools that are visible.
    pub(super) fn visible_own_tools(
        &self,
        state: &SessionState,
        access: Option<&Arc<Access>>,
        now: Timestamp,
    ) -> Box<[ToolIndex]> {
        let is_visible =
            |tool: &ToolIndex| self.decide_in(*tool, state, access, now) == Decision::Visible;
        self.own_tools(None).filter(is_visible).collect()
    }

    /// The same, to keep.
    pub(super) fn rights(&self) -> Arc<Rights> {
        self.with_rights(self.cell.access().as_ref(), Arc::clone)
    }

    /// What this turn's grants open of a skill.
    pub(super) fn standing(&self, skill: &str, state: &SessionState) -> TurnStanding {
        let registry = &self.epoch.registry;
        if let Some(loader) = registry.loader
            && *registry.skill(loader).id == *skill
        {
            return self.with_rights(self.cell.access().as_ref(), |rights| {
                let now = self.engine.clock.now();
                self.with_grants(|grants| reading(&self.epoch, rights, state, grants, now))
            });
        }
        // Most turns grant nothing, and need no lock then.
        if self.edition() == 0 {
            return TurnStanding::default();
        }
        self.with_grants(|grants| grants.standing(skill, state))
    }

    /// Whether what a layout was made under still holds, in a session that did not change.
    pub(super) fn holds_rights(&self, layout: &Layout) -> bool {
        let kept = lock(&self.rights);
        kept.as_ref().is_some_and(|resolved| {
            resolved.holds_outside(&self.engine) && layout.has_rights(&resolved.rights)
        })
    }

    /// Until when the rights hold by themselves.
    pub(super) fn rights_expire(&self) -> Option<Timestamp> {
        lock(&self.rights).as_ref().and_then(Resolved::expires)
    }

    /// Notes that something from outside may speak through the model from now on.
    pub(super) fn see_untrusted(&self) {
        self.untrusted_seen.store(true, Ordering::Release);
    }

    pub(super) fn untrusted_seen(&self) -> bool {
        self.untrusted_seen.load(Ordering::Acquire)
    }

    /// Notes the skills whose bodies the latest view could not read.
    pub(super) fn note_missing(&self, skills: impl Iterator<Item = SkillIndex>) {
        let mut missing = lock(&self.missing_bodies);
        missing.clear();
        missing.extend(skills);
    }

    /// Whether the latest view could not read the body of a skill.
    pub(super) fn lacks_body(&self, skill: SkillIndex) -> bool {
        lock(&self.missing_bodies).contains(&skill)
    }

    /// The bodies in results that were not handed out yet.
    pub(super) fn giving<T>(&self, look: impl FnOnce(&mut Vec<Given>) -> T) -> T {
        look(&mut lock(&self.giving))
    }

    /// Notes that the results were handed out, and that the model has what they hold.
    pub(super) fn hand_out(&self) {
        for given in self.giving(std::mem::take) {
            self.cell.give(given);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    pub(super) fn with_grants<T>(&self, look: impl FnOnce(&TurnGrants) -> T) -> T {
        look(&lock(&self.grants))
    }

    pub(super) fn edit_grants<T>(&self, edit: impl FnOnce(&mut TurnGrants) -> T) -> T {
        let mut grants = lock(&self.grants);
        let result = edit(&mut grants);
        self.edition.fetch_add(1, Ordering::AcqRel);
        result
    }

    /// Ends the turn: its grants go, and tools that outlive it can change nothing through it.
    pub(super) fn end(&self) {
        self.edit_grants(|grants| {
            self.has_ended.store(true, Ordering::Release);
            *grants = TurnGrants::default();
        });
    }

    pub(super) fn check_running(&self) -> Result<(), Fault> {
        if self.cell.has_ended() {
            return Err(ended());
        }
        if self.has_ended.load(Ordering::Acquire) {
            return Err(Fault::new(
                Code::Cancelled,
                "the turn has ended. Begin a new one",
            ));
        }
        Ok(())
    }
}
