use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::control::Control;
use crate::audit::AuditKind;
use crate::prompt::name_as_told;
use crate::skill::{Code, Fault, Resource, ResourcePart, ToolOutput, shown};

/// Bytes of a file in one answer.
const MOST: usize = 256 * 1024;
/// Room for what is said beside the bytes.
const BESIDE: usize = 512;
/// Bytes that are read whatever the limit: those of the longest character.
const LEAST: usize = 4;

/// What a model is told of a file that is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BinaryFiles {
    /// Its bytes, in Base64 (RFC 4648, section 4).
    #[default]
    Base64,
    /// That it is no text.
    Refuse,
}

impl Control<'_> {
    /// A part of a file of an open skill, as a model reads it.
    pub(in crate::engine) async fn read_file(
        &self,
        skill: &str,
        path: &str,
        offset: u64,
        limit: Option<u64>,
    ) -> Result<ToolOutput, Fault> {
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let (index, level) = self.open_content(skill)?;
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        let content = registered.content();
        let Some(content) = content.filter(|content| !content.resources().is_empty()) else {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!("`{id}` has no files. Do without them"),
            ));
        };
        let listed = content.resources();
        let Some(file) = found(listed, path) else {
            // It is asked for the reason; whatever it answers, nothing of it is handed on.
            let refused = content.read(path, 0, 0).await.err();
            return Err(refused.unwrap_or_else(|| not_listed(id, path)));
        };
        if level < file.level() {
            return Err(Fault::new(
                Code::Hidden,
                format!(
                    "`{id}` is at {level}, and `{path}` is a script; open `{id}` at COMPLETE with \
                     psl-skill__set_skill_visibility first"
                ),
            ));
        }
        let most = self.engine.limits.result.saturating_sub(BESIDE).min(MOST);
        let most = limit.map_or(most, |limit| {
            usize::try_from(limit).unwrap_or(most).min(most)
        });
        // Room for one character of a text, and for three bytes of what is none.
        let most = most.max(LEAST);
        let part = content.read(&file.path, offset, most).await?;
        self.check_open(index, file.level())?;
        let told = self.told_file(file, &part, most)?;
        let kind = AuditKind::ResourceRead {
            skill: id.clone(),
            path: file.path.clone(),
            offset: told.2,
            bytes: told.1 as u64,
        };
        let mut event = self.engine.event(self.cell, self.actor, kind);
        event.turn = self.turn.map(|turn| turn.id);
        self.engine.audit.record(event.by(self.by.clone()));
        Ok(ToolOutput::text(told.0))
    }

    /// A part as it is told, how many of its bytes that is, and which one is the first.
    fn told_file(
        &self,
        file: &Resource,
        part: &ResourcePart,
        most: usize,
    ) -> Result<(String, usize, u64), Fault> {
        let mut start = part.offset;
        let (mut text, taken) = match whole_characters(&part.bytes, part.offset > 0) {
            Some((before, text)) => {
                start = start.saturating_add(before as u64);
                (text.to_owned(), text.len())
            }
            None if self.engine.loading.binary_files == BinaryFiles::Refuse => {
                return Err(Fault::new(
                    Code::InvalidArguments,
                    format!("`{}` is no text, so it cannot be read here", file.path),
                ));
            }
            None => {
                // Three bytes make four letters.
                let taken = part.bytes.len().min(most / 4 * 3);
                let letters = STANDARD.encode(&part.bytes[..taken]);
                (format!("[base64]\n{letters}"), taken)
            }
        };
        let end = start.saturating_add(taken as u64);
        if taken == 0 && part.total > 0 {
            let _ = write!(text, "[nothing there: the file has {} bytes]", part.total);
        } else if start > 0 || end < part.total {
            let _ = write!(text, "\n[bytes {start} to {end} of {}", part.total);
            if end < part.total {
                let _ = write!(text, "; go on with offset {end}");
            }
            text.push(']');
        }
        Ok((text, taken, start))
    }
}

/// The listed file that a path means: as it is, or as the list of files shows it.
fn found<'a>(listed: &'a [Resource], path: &str) -> Option<&'a Resource> {
    if let Some(file) = listed.iter().find(|file| *file.path == *path) {
        return Some(file);
    }
    let mut shown = listed
        .iter()
        .filter(|file| name_as_told(&file.path) == path);
    shown.next().filter(|_| shown.next().is_none())
}

/// Bytes as text, without a last character that is not whole, nor the rest of a first one where `is_inside` says that
/// there are bytes before, and how many bytes that rest has; `None` when they are no text.
fn whole_characters(bytes: &[u8], is_inside: bool) -> Option<(usize, &str)> {
    let is_rest = |byte: &&u8| is_inside && matches!(byte, 0x80..=0xBF);
    let before = bytes.iter().take(3).take_while(is_rest).count();
    let bytes = &bytes[before..];
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(err) if err.error_len().is_none() && err.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..err.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some((before, text))
}

fn not_listed(skill: &str, path: &str) -> Fault {
    let path = shown(path, 128);
    Fault::new(
        Code::InvalidArguments,
        format!("`{path}` is not among the files of `{skill}`. Use a path as it is listed"),
    )
}
