use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::skill::{Requirements, shown};

/// Programs, variables and systems that one skill may ask for. Each is looked for in every scan.
const MOST_NEEDS: usize = 64;

/// What this machine has of what skills ask for, looked up once each. Nothing is run, and no value is looked at.
#[derive(Debug)]
pub(super) struct Machine {
    folders: Vec<PathBuf>,
    /// Endings of programs, where a system has them; at least the empty one.
    endings: Vec<OsString>,
    bins: HashMap<String, bool>,
}

impl Machine {
    pub(super) fn new() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut endings = vec![OsString::new()];
        if cfg!(windows) {
            let listed = env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".to_owned());
            endings.extend(listed.split(';').map(OsString::from));
        }
        Self {
            folders: env::split_paths(&path).collect(),
            endings,
            bins: HashMap::new(),
        }
    }

    /// What of these is missing, each in words.
    pub(super) fn unmet(&mut self, requirements: &Requirements) -> Vec<String> {
        let mut unmet = Vec::new();
        if requirements.is_empty() {
            return unmet;
        }
        let Requirements {
            bins,
            any_bins,
            env,
            os,
            unreadable: _,
        } = requirements;
        let count = [bins, any_bins, env, os]
            .map(Vec::len)
            .iter()
            .sum::<usize>();
        if count > MOST_NEEDS {
            return vec![format!(
                "{count} programs, variables and systems, which are not looked for: {MOST_NEEDS} are"
            )];
        }
        let name = |name: &String| format!("`{}`", shown(name, 80));
        for bin in &requirements.bins {
            if !self.has_bin(bin) {
                unmet.push(format!("the program {}", name(bin)));
            }
        }
        let any = &requirements.any_bins;
        if !any.is_empty() && !any.iter().any(|bin| self.has_bin(bin)) {
            let names: Vec<_> = any.iter().map(name).collect();
            unmet.push(format!("one of the programs {}", names.join(", ")));
        }
        for variable in &requirements.env {
            if !has_variable(variable) {
                unmet.push(format!("the variable {}", name(variable)));
            }
        }
        let systems = &requirements.os;
        if !systems.is_empty() && !systems.iter().any(|system| is_this_system(system)) {
            let names: Vec<_> = systems.iter().map(name).collect();
            unmet.push(format!("a system of {}", names.join(", ")));
        }
        for key in &requirements.unreadable {
            unmet.push(format!("what {} asks for, which cannot be read", name(key)));
        }
        unmet
    }

    fn has_bin(&mut self, bin: &str) -> bool {
        if let Some(has) = self.bins.get(bin) {
            return *has;
        }
        // A path would say something of the machine that is none of a skill's business.
        let is_name =
            !bin.is_empty() && !bin.contains(['/', '\\', '\0']) && bin != "." && bin != "..";
        let has = is_name
            && self.folders.iter().any(|folder| {
                self.endings.iter().any(|ending| {
                    let mut name = OsString::from(bin);
                    name.push(ending);
                    is_program(&folder.join(name))
                })
            });
        self.bins.insert(bin.to_owned(), has);
        has
    }
}

fn has_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && env::var_os(OsStr::new(name)).is_some()
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    #[cfg(unix)]
    let may_run = {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.permissions().mode() & 0o111 != 0
    };
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

/// Whether an operating system, as authors name it, is the one this program runs on.
fn is_this_system(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let system = match &*name {
        "darwin" | "osx" | "mac" | "mac os" => "macos",
        "win32" | "win" | "win64" => "windows",
        other => other,
    };
    system == env::consts::OS || (system == "unix" && cfg!(unix))
}
