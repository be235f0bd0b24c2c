use std::collections::HashMap;
use std::mem;

use thiserror::Error;

use super::words::Words;

/// Characters of a named argument; longer names are not placeholders.
const LONGEST_NAME: usize = 64;

/// The number of the first argument in `$N` and `$ARGUMENTS[N]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentBase {
    /// `$0` is the first argument.
    #[default]
    Zero,
    /// `$1` is the first argument, and `$0` is none.
    One,
}

/// Instructions with places for arguments, and what is put there.
///
/// | in the text | becomes |
/// |---|---|
/// | `$ARGUMENTS` | the arguments as they were given, quotes and all |
/// | `$ARGUMENTS[N]`, `$N` | one argument |
/// | `$name` | the argument at the place of a [declared name](Self::names); nothing, when there are not so many |
/// | `${SKILL_DIR}`, `${CLAUDE_SKILL_DIR}` | the folder of the skill |
/// | `${SESSION_ID}`, `${CLAUDE_SESSION_ID}` | the id of the session |
///
/// - Single arguments are told apart as a shell does: at white space, with `'…'`, `"…"` and `\` to keep it. Where a quote
///   is not closed, all quotes are letters, as in `it's late`.
/// - What has no value stays as it is: `$5` of two arguments, however large the number, or `${SKILL_DIR}` of a skill
///   without a folder. So does what only looks alike: `$HOME`, `$(date)`, `$1st`, `$ARGUMENTS_2`. An unfinished
///   `$ARGUMENTS[` is `$ARGUMENTS` and a bracket.
/// - A `\` before a place keeps it as text and goes away itself. Before any other `$` it is text.
/// - Arguments that nothing took follow the text as `ARGUMENTS: …`, all of them or none: a text that takes one of them
///   is thought to need no more.
/// - The text is read once. What was inserted is not read again, whatever it holds.
/// - `` !`command` `` stays text; [`Expanded::commands`] tells of it.
///
/// # Examples
///
/// ```
/// use skills_engine::prompt::Template;
///
/// let template = Template::new("Move $0 to ${SKILL_DIR}/out. It costs $5.")
///     .arguments(r#""a b" c"#)
///     .skill_dir("/skills/move");
/// assert_eq!(template.expand(1_000)?.text, "Move a b to /skills/move/out. It costs $5.");
///
/// let template = Template::new("Deploy.").arguments("payments");
/// assert_eq!(template.expand(1_000)?.text, "Deploy.\n\nARGUMENTS: payments");
/// # Ok::<(), skills_engine::prompt::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Template<'a> {
    body: &'a str,
    arguments: &'a str,
    names: Vec<&'a str>,
    base: ArgumentBase,
    skill_dir: Option<&'a str>,
    session_id: Option<&'a str>,
}

impl<'a> Template<'a> {
    /// A text without arguments.
    pub fn new(body: &'a str) -> Self {
        Self {
            body,
            arguments: "",
            names: Vec::new(),
            base: ArgumentBase::Zero,
            skill_dir: None,
            session_id: None,
        }
    }

    /// Sets the arguments, as a person or a model wrote them.
    pub fn arguments(mut self, arguments: &'a str) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets the names of the arguments in their order, as the header field `arguments` declares them.
    ///
    /// A name has at most 64 characters: ASCII letters, digits, `_` and `-`, and not a digit first. Others, and
    /// `ARGUMENTS`, are no names, but their places count. Of equal names the first counts.
    pub fn names(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.names = names.into_iter().collect();
        self
    }

    /// Sets the number of the first argument.
    pub fn base(mut self, base: ArgumentBase) -> Self {
        self.base = base;
        self
    }

    /// Sets the folder of the skill.
    pub fn skill_dir(mut self, folder: &'a str) -> Self {
        self.skill_dir = Some(folder);
        self
    }

    /// Sets the id of the session.
    pub fn session_id(mut self, id: &'a str) -> Self {
        self.session_id = Some(id);
        self
    }

    /// Puts everything in its place, in at most `most` bytes.
    ///
    /// The work grows with the text, the arguments and the result, and not faster.
    ///
    /// # Errors
    ///
    /// [`TemplateError::TooLong`] when the result has more bytes. None of it is kept.
    pub fn expand(&self, most: usize) -> Result<Expanded<'a>, TemplateError> {
        let mut expansion = Expansion {
            template: self,
            places: self.places(),
            words: None,
            taken: Vec::new(),
            takes_all: false,
            out: Output {
                text: String::new(),
                most,
            },
            commands: Vec::new(),
        };
        expansion.run()?;
        let appends = !expansion.has_taken() && !self.arguments.trim().is_empty();
        if appends {
            expansion.append()?;
        }
        let unused = if appends { 0 } else { expansion.unused() };
        Ok(Expanded {
            text: expansion.out.text,
            commands: expansion.commands,
            unused,
        })
    }

    /// The places of named arguments.
    fn places(&self) -> HashMap<&'a str, usize> {
        let mut places = HashMap::new();
        for (place, name) in self.names.iter().enumerate() {
            let is_name = name.len() <= LONGEST_NAME
                && name.chars().all(is_of_name)
                && !name.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                && !matches!(*name, "" | "ARGUMENTS");
            if is_name {
                places.entry(*name).or_insert(place);
            }
        }
        places
    }
}

/// A text with everything in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expanded<'a> {
    /// The text.
    pub text: String,
    /// The commands that stand in the body as `` !`command` ``, at the start of a line or after white space, in order
    /// and as written there. None of them was run. Those of arguments are not among them.
    pub commands: Vec<&'a str>,
    /// How many arguments nothing took, when others were taken: they are not in the text.
    pub unused: usize,
}

/// Why a text was not expanded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It would have become too long.
    #[error("instructions with their arguments have more than {most} bytes. shorten the arguments")]
    TooLong {
        /// The most bytes it may have.
        most: usize,
    },
}

/// What stands behind a `$`.
enum Place<'a> {
    All,
    /// An argument by its place, if there is a place of that number.
    Numbered(Option<usize>),
    Named(usize),
    Value(Option<&'a str>),
}

/// An expansion on its way.
struct Expansion<'t, 'a> {
    template: &'t Template<'a>,
    places: HashMap<&'a str, usize>,
    /// The single arguments, once one is needed.
    words: Option<Words>,
    /// Which of them were taken.
    taken: Vec<bool>,
    takes_all: bool,
    out: Output,
    commands: Vec<&'a str>,
}

impl<'a> Expansion<'_, 'a> {
    fn run(&mut self) -> Result<(), TemplateError> {
        let body = self.template.body;
        // What lies before it is written, or told of as a command.
        let (mut written, mut told) = (0, 0);
        let mut at = 0;
        while let Some(found) = body[at..].find(['$', '!']) {
            let start = at + found;
            at = start + 1;
            if body[start..].starts_with('!') {
                if start >= told
                    && let Some(command) = command(body, start)
                {
                    told = start + command.len() + 3;
                    self.commands.push(command);
                }
                continue;
            }
            let Some((place, length)) = self.place(&body[at..]) else {
                continue;
            };
            let end = at + length;
            if body[..start].ends_with('\\') && written < start {
                self.out.push(&body[written..start - 1])?;
                self.out.push(&body[start..end])?;
            } else {
                self.out.push(&body[written..start])?;
                if !self.put(&place)? {
                    self.out.push(&body[start..end])?;
                }
            }
            (written, at) = (end, end);
        }
        self.out.push(&body[written..])
    }

    /// The place that a text behind a `$` begins with, and its length.
    fn place(&self, text: &str) -> Option<(Place<'a>, usize)> {
        if text.starts_with('{') {
            return self.value(text);
        }
        let digits = digits(text);
        if digits > 0 {
            let ends = !text[digits..].starts_with(is_of_word);
            return ends.then(|| (self.numbered(&text[..digits]), digits));
        }
        if let Some(rest) = text.strip_prefix("ARGUMENTS") {
            let length = text.len() - rest.len();
            if let Some(inner) = rest.strip_prefix('[') {
                let digits = self::digits(inner);
                if digits > 0 && inner[digits..].starts_with(']') {
                    return Some((self.numbered(&inner[..digits]), length + digits + 2));
                }
            }
            if !rest.starts_with(is_of_word) {
                return Some((Place::All, length));
            }
        }
        self.named(text)
    }

    fn value(&self, text: &str) -> Option<(Place<'a>, usize)> {
        let Template {
            skill_dir,
            session_id,
            ..
        } = self.template;
        let values = [
            ("{SKILL_DIR}", skill_dir),
            ("{CLAUDE_SKILL_DIR}", skill_dir),
            ("{SESSION_ID}", session_id),
            ("{CLAUDE_SESSION_ID}", session_id),
        ];
        let mut values = values.into_iter();
        let (name, value) = values.find(|(name, _)| text.starts_with(name))?;
        Some((Place::Value(*value), name.len()))
    }

    fn numbered(&self, digits: &str) -> Place<'a> {
        // A number that is too large for its type is that of no argument.
        let number = digits.parse::<usize>().ok();
        Place::Numbered(match self.template.base {
            ArgumentBase::Zero => number,
            ArgumentBase::One => number.and_then(|number| number.checked_sub(1)),
        })
    }

    /// The longest declared name, as a whole word.
    fn named(&self, text: &str) -> Option<(Place<'a>, usize)> {
        if self.places.is_empty() {
            return None;
        }
        let letters = text.bytes().take(LONGEST_NAME + 1);
        let run = letters
            .take_while(|byte| is_of_name(char::from(*byte)))
            .count();
        let ends = (1..=run).rev().filter(|end| {
            let goes_on = text[*end..].starts_with(|next| is_of_word(next) || next == '[');
            !goes_on && text.as_bytes()[end - 1] != b'-'
        });
        let mut found = ends.filter_map(|end| Some((*self.places.get(&text[..end])?, end)));
        found.next().map(|(place, end)| (Place::Named(place), end))
    }

    /// Writes what belongs in a place. `false` when nothing does.
    fn put(&mut self, place: &Place<'a>) -> Result<bool, TemplateError> {
        match *place {
            Place::All => {
                self.takes_all = true;
                self.out.push(self.template.arguments)?;
                Ok(true)
            }
            Place::Value(None) | Place::Numbered(None) => Ok(false),
            Place::Value(Some(value)) => self.out.push(value).map(|()| true),
            Place::Numbered(Some(index)) => self.put_word(index),
            Place::Named(index) => self.put_word(index).map(|_| true),
        }
    }

    fn put_word(&mut self, index: usize) -> Result<bool, TemplateError> {
        let arguments = self.template.arguments;
        let words = self.words.get_or_insert_with(|| Words::split(arguments));
        let Some(word) = words.get(index) else {
            return Ok(false);
        };
        self.taken.resize(words.len(), false);
        self.taken[index] = true;
        self.out.push(word)?;
        Ok(true)
    }

    fn has_taken(&self) -> bool {
        self.takes_all || !self.taken.is_empty()
    }

    fn unused(&self) -> usize {
        if self.takes_all {
            return 0;
        }
        self.taken.iter().filter(|taken| !**taken).count()
    }

    fn append(&mut self) -> Result<(), TemplateError> {
        let text = &self.out.text;
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        self.out.push(gap)?;
        self.out.push("ARGUMENTS: ")?;
        self.out.push(self.template.arguments)
    }
}

/// A text that grows to a bound.
struct Output {
    text: String,
    most: usize,
}

impl Output {
    fn push(&mut self, text: &str) -> Result<(), TemplateError> {
        if text.len() > self.most - self.text.len() {
            // Its memory is of no more use.
            mem::take(&mut self.text);
            return Err(TemplateError::TooLong { most: self.most });
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// The command that begins with the `!` at a place.
fn command(body: &str, start: usize) -> Option<&str> {
    let before = body[..start].chars().next_back();
    if before.is_some_and(|before| !before.is_whitespace()) {
        return None;
    }
    let text = body[start + 1..].strip_prefix('`')?;
    let end = text.find(['`', '\n'])?;
    (end > 0 && text[end..].starts_with('`')).then(|| &text[..end])
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
