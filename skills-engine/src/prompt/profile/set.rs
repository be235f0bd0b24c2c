use std::borrow::Cow;

use super::super::template::ArgumentBase;
use super::{
    CatalogueFormat, CataloguePlace, CatalogueTiers, EnvelopeForm, Profile, ProfileError,
    ProfileParameter, ProfileTool, SKILLS,
};
use crate::skill::shown;

/// Parameters of the tool that reads files, which have these names in every profile.
const RESOURCE_PARAMETERS: [&str; 2] = ["offset", "limit"];

/// Each value, set alone.
impl Profile {
    /// Calls it something else.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Cow::Owned(name.into());
        self
    }

    /// Shows the catalogue elsewhere.
    #[must_use]
    pub fn with_place(mut self, place: CataloguePlace) -> Self {
        self.place = place;
        self
    }

    /// Writes the catalogue in another way.
    #[must_use]
    pub fn with_format(mut self, format: CatalogueFormat) -> Self {
        self.format = format;
        self
    }

    /// Shows the catalogue in a text of the host's: `{skills}` is replaced, everything else stays as it is.
    ///
    /// # Errors
    ///
    /// `{skills}` is missing, or is there more than once.
    pub fn with_catalogue_text(mut self, text: impl Into<String>) -> Result<Self, ProfileError> {
        let text = text.into();
        match text.matches(SKILLS).count() {
            0 => return Err(ProfileError::NoSkills),
            1 => {}
            count => return Err(ProfileError::ManySkills { count }),
        }
        self.text = text
            .split_once(SKILLS)
            .map(|(before, after)| (before.to_owned(), after.to_owned()));
        Ok(self)
    }

    /// Calls a tool something else, in texts too.
    ///
    /// # Errors
    ///
    /// The name is none that providers take, holds two underscores in a row as the names of skills' tools do, or
    /// another tool has it.
    pub fn with_tool(
        mut self,
        tool: ProfileTool,
        name: impl Into<String>,
    ) -> Result<Self, ProfileError> {
        const ALL: [ProfileTool; 4] = [
            ProfileTool::Load,
            ProfileTool::ReadResource,
            ProfileTool::List,
            ProfileTool::Search,
        ];
        let name = checked(name.into())?;
        if name.contains("__") {
            // So begin the names of tools that skills have.
            return Err(ProfileError::Name {
                name: shown(&name, 64),
            });
        }
        if ALL
            .into_iter()
            .any(|other| other != tool && self.tool(other) == name)
        {
            return Err(ProfileError::Taken { name });
        }
        let name = Cow::Owned(name);
        match tool {
            ProfileTool::Load => self.tools.load = name,
            ProfileTool::ReadResource => self.tools.read = name,
            ProfileTool::List => self.tools.list = name,
            ProfileTool::Search => self.tools.search = name,
        }
        Ok(self)
    }

    /// Calls a parameter something else; the tool that loads skills then takes arguments where it did not.
    ///
    /// # Errors
    ///
    /// The name is none that providers take, or another parameter of the tool has it.
    pub fn with_parameter(
        mut self,
        parameter: ProfileParameter,
        name: impl Into<String>,
    ) -> Result<Self, ProfileError> {
        let name = checked(name.into())?;
        let is_of_resource = matches!(
            parameter,
            ProfileParameter::ResourceSkill | ProfileParameter::ResourcePath
        );
        if is_of_resource && RESOURCE_PARAMETERS.contains(&&*name) {
            return Err(ProfileError::Taken { name });
        }
        let other = match parameter {
            ProfileParameter::LoadSkill => ProfileParameter::LoadArguments,
            ProfileParameter::LoadArguments => ProfileParameter::LoadSkill,
            ProfileParameter::ResourceSkill => ProfileParameter::ResourcePath,
            ProfileParameter::ResourcePath => ProfileParameter::ResourceSkill,
        };
        if self.parameter(other) == Some(&name) {
            return Err(ProfileError::Taken { name });
        }
        let name = Cow::Owned(name);
        match parameter {
            ProfileParameter::LoadSkill => self.tools.load_skill = name,
            ProfileParameter::LoadArguments => self.tools.load_arguments = Some(name),
            ProfileParameter::ResourceSkill => self.tools.read_skill = name,
            ProfileParameter::ResourcePath => self.tools.read_path = name,
        }
        Ok(self)
    }

    /// Lets the tool that loads skills take no arguments for them.
    #[must_use]
    pub fn without_arguments(mut self) -> Self {
        self.tools.load_arguments = None;
        self
    }

    /// Writes a loaded skill in another way.
    #[must_use]
    pub fn with_envelope(mut self, envelope: EnvelopeForm) -> Self {
        self.envelope = envelope;
        self
    }

    /// Lists more or fewer files of a loaded skill; 50 at most unless it is set.
    #[must_use]
    pub fn with_listed_resources(mut self, most: usize) -> Self {
        self.listed_resources = most;
        self
    }

    /// Counts arguments from another number.
    #[must_use]
    pub fn with_argument_base(mut self, base: ArgumentBase) -> Self {
        self.argument_base = base;
        self
    }

    /// Limits what the catalogue says by the number of skills, too; `None` leaves it to the budget.
    #[must_use]
    pub fn with_tiers(mut self, tiers: impl Into<Option<CatalogueTiers>>) -> Self {
        self.tiers = tiers.into();
        self
    }
}

/// A name that every provider takes for a tool or parameter.
fn checked(name: String) -> Result<String, ProfileError> {
    const LONGEST: usize = 64;
    let is_plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_plain && (1..=LONGEST).contains(&name.len()) {
        return Ok(name);
    }
    Err(ProfileError::Name {
        name: shown(&name, LONGEST),
    })
}
