//! The cases of the contract whose inputs cannot lie in a checkout: links, odd bytes, huge and many files.

use super::scratch::{Scratch, main_file};

/// Makes the input of a case below `input`, if it is one of these.
pub(super) fn generate(case: &str, scratch: &Scratch) -> bool {
    match case.split_once('-').map_or(case, |(number, _)| number) {
        "h35" => {
            let text = b"---\nname: old-bytes\ndescription: Pr\xe9par\xe9 sur un vieux poste\n---\nCorps.\n"; // misspelled on purpose
            scratch.put("input/old-bytes/SKILL.md", text);
        }
        "h36" => {
            let body = "x".repeat(12 * 1024 * 1024);
            let text = main_file("whale", "Far too large to read", &body);
            scratch.put("input/whale/SKILL.md", text);
        }
        "h37" => {
            let text = main_file("shared-tool", "Lives elsewhere and is linked in", "Linked.");
            scratch.put("input/store/shared-tool/SKILL.md", text);
            scratch.put("input/store/shared-tool/scripts/go.sh", "#!/bin/sh\n");
            scratch.link("../store/shared-tool", "input/skills/shared-tool");
        }
        "h38" => {
            let text = main_file("loopy", "A folder inside points back to the top", "Loop.");
            scratch.put("input/loopy/SKILL.md", text);
            scratch.put("input/loopy/references/a.md", "a\n");
            scratch.link("..", "input/loopy/references/again");
        }
        "h39" => {
            let text = main_file("peek", "Not part of the project", "Secret.");
            scratch.put("input/outside/secret/SKILL.md", text);
            scratch.link(
                "../../../../outside/secret/SKILL.md",
                "input/project/.agents/skills/peek/SKILL.md",
            );
        }
        "h40" => {
            let text = main_file("leaky", "One of its files points outside", "Leak.");
            scratch.put("input/leaky/SKILL.md", text);
            scratch.put("input/leaky/references/ok.md", "ok\n");
            scratch.put("input-outside.txt", "not yours\n");
            scratch.link(
                "../../../input-outside.txt",
                "input/leaky/references/out.txt",
            );
        }
        "h41" => {
            scratch.put("input/odd-folder/SKILL.md/keep", "");
            scratch.remove("input/odd-folder/SKILL.md/keep");
            scratch.put("input/odd-folder/readme.txt", "x\n");
        }
        "h42" => {
            let text = main_file("crate-dump", "Ships a thousand sample files", "Many.");
            scratch.put("input/crate-dump/SKILL.md", text);
            for number in 0..1000 {
                let path = format!("input/crate-dump/assets/sample-{number:04}.txt");
                scratch.put(&path, "s\n");
            }
        }
        _ => return false,
    }
    true
}
