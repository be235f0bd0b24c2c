use std::fmt;

use crate::skill::printable;

/// How much a [`Diagnostic`] weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The skill is there; something about it is not as its author meant it, or not as the standard asks.
    Warning,
    /// What the diagnostic is about is left out.
    Error,
}

impl Severity {
    /// `warning` or `error`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Declares the kinds once: name, text, severity, and whether a strict validator refuses it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal, $severity:ident, $strict:literal;)*) => {
        /// What a [`Diagnostic`] is about, in a word a program can match.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DiagnosticKind {
            $($(#[$doc])* $kind,)*
        }

        impl DiagnosticKind {
            /// Every kind, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The kind in kebab case, such as `yaml-repaired`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }

            /// How much it weighs.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$kind => Severity::$severity,)*
                }
            }

            /// Whether a validator that follows the prose of the Agent Skills specification refuses the skill. It
            /// refuses one with a key outside the six fields of the specification too, although clients know more.
            #[must_use]
            pub const fn is_strict_violation(self) -> bool {
                match self {
                    $(Self::$kind => $strict,)*
                }
            }
        }
    };
}

kinds! {
    /// A root folder does not exist.
    RootMissing = "root-missing", Error, true;
    /// A root is not a folder.
    RootNotDirectory = "root-not-directory", Error, true;
    /// Folders below the depth limit were not looked at.
    ScanDepthLimit = "scan-depth-limit", Warning, false;
    /// The main file is not spelled `SKILL.md`.
    FilenameCase = "filename-case", Warning, true;
    /// A link leads to one of its own ancestors.
    SymlinkLoop = "symlink-loop", Warning, false;
    /// The main file of a project's skill lies outside the project.
    SymlinkEscape = "symlink-escape", Error, true;
    /// A project that the user does not trust was not read.
    ProjectUntrusted = "project-untrusted", Warning, false;
    /// A scan has more folders, or a folder more names, than are looked at.
    ScanLimit = "scan-limit", Error, true;
    /// A file or folder cannot be read.
    Unreadable = "unreadable", Error, true;
    /// A link leads nowhere.
    LinkBroken = "link-broken", Warning, false;
    /// Another skill of the same name goes first.
    NameCollision = "name-collision", Warning, false;
    /// The main file is a folder.
    SkillMdNotFile = "skill-md-not-file", Error, true;
    /// The main file is larger than 1 MiB.
    FileTooLarge = "file-too-large", Error, true;
    /// The main file is not UTF-8.
    EncodingInvalid = "encoding-invalid", Error, true;
    /// The main file begins with a byte order mark.
    Bom = "bom", Warning, false;
    /// The first line is not `---`.
    FrontmatterMissing = "frontmatter-missing", Error, true;
    /// No `---` ends the header.
    FrontmatterUnclosed = "frontmatter-unclosed", Error, true;
    /// There is no text below the header.
    BodyEmpty = "body-empty", Warning, false;
    /// The header is larger or deeper than is read: 256 KiB, 16 levels, 4,096 keys and values with 128 KiB, 16 aliases.
    YamlLimits = "yaml-limits", Error, true;
    /// A mapping of the header has a key twice.
    DuplicateKey = "duplicate-key", Error, true;
    /// The header is not a mapping.
    FrontmatterNotMapping = "frontmatter-not-mapping", Error, true;
    /// The header was not YAML, and a repair made it so.
    YamlRepaired = "yaml-repaired", Warning, true;
    /// The header is not YAML.
    YamlInvalid = "yaml-invalid", Error, true;
    /// There is no name, so the folder's is taken.
    NameMissing = "name-missing", Warning, true;
    /// The name cannot be used as a key, a part of a path or of an address.
    NameUnsafe = "name-unsafe", Error, true;
    /// The name has more than 64 characters.
    NameTooLong = "name-too-long", Warning, true;
    /// The name is not lower-case letters, digits and single hyphens.
    NameFormat = "name-format", Warning, true;
    /// The name is not that of the folder.
    NameDirMismatch = "name-dir-mismatch", Warning, true;
    /// There is no description.
    DescriptionMissing = "description-missing", Error, true;
    /// The description is not a text.
    DescriptionInvalid = "description-invalid", Error, true;
    /// The description has more than 1024 characters.
    DescriptionTooLong = "description-too-long", Warning, true;
    /// A comment ends the description.
    CommentInValue = "comment-in-value", Warning, false;
    /// `compatibility` has more than 500 characters.
    CompatibilityTooLong = "compatibility-too-long", Warning, true;
    /// A value of `metadata` is not a text.
    MetadataCoerced = "metadata-coerced", Warning, true;
    /// `metadata` is not a mapping.
    MetadataInvalid = "metadata-invalid", Warning, true;
    /// `allowed-tools` is not a text with blanks between the tools.
    AllowedToolsForm = "allowed-tools-form", Warning, true;
    /// `argument-hint` is not a text.
    ArgumentHintForm = "argument-hint-form", Warning, false;
    /// The header has a key that neither the specification nor a known client has.
    UnknownField = "unknown-field", Warning, true;
    /// The header has a key of clients that the specification does not have. Strict sources alone tell it.
    ExtensionField = "extension-field", Warning, true;
    /// A link among the resources leads out of the skill's folder.
    ResourceEscape = "resource-escape", Warning, false;
    /// A file of the skill cannot be read or named, and is not listed.
    ResourceUnreadable = "resource-unreadable", Warning, false;
    /// A skill inside a skill is a file of the outer one.
    NestedSkillIgnored = "nested-skill-ignored", Warning, false;
    /// The skill has more files than are listed.
    ResourcesTruncated = "resources-truncated", Warning, false;
    /// The machine lacks something that the skill needs, so the skill is not offered.
    RequirementsUnmet = "requirements-unmet", Warning, false;
    /// Folders of a source that watches them are not watched, so changes in them are found by refreshes alone.
    NotWatched = "not-watched", Warning, false;
}

/// Severity and kind: `warning: yaml-repaired`.
impl fmt::Display for DiagnosticKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.severity(), self.as_str())
    }
}

/// Something that an author, or the owner of a machine, should know about a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about.
    pub kind: DiagnosticKind,
    /// The file or folder that it is about, as the reader of the folder names it.
    pub path: String,
    /// The line, from 1; `None` when it is about no line.
    pub line: Option<u32>,
    /// The column in characters, from 1; `None` when it is about no column.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Diagnostic {
    /// A diagnostic about a file or folder as a whole, with the severity of its kind.
    #[must_use]
    pub fn new(
        kind: DiagnosticKind,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            severity: kind.severity(),
            kind,
            path: path.into(),
            line: None,
            column: None,
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// The same, about one place of the file: line and column from 1.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }
}

/// `path:line:column: warning: yaml-repaired: what is wrong. what to do`, on one line: what is not printable is escaped.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", printable(&self.path))?;
        if let Some(line) = self.line {
            write!(formatter, "{line}:")?;
        }
        if let Some(column) = self.column {
            write!(formatter, "{column}:")?;
        }
        write!(
            formatter,
            " {}: {}: {}. {}",
            self.severity,
            self.kind.as_str(),
            printable(&self.message),
            printable(&self.hint)
        )
    }
}
