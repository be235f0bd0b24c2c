//! The right word for a wrong one.

/// The candidate that `word` was probably meant to be.
pub(crate) fn closest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, candidate)| *distance <= allowed(&word, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A third of the letters may be wrong.
fn allowed(word: &str, candidate: &str) -> usize {
    (word.chars().count().max(candidate.len()) / 3).max(1)
}

/// Insertions, deletions, replacements and swaps of neighbors that turn one word into the other.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![(0..=right.len()).collect::<Vec<_>>()];
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(l != r))
                .min(rows[i][j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn suggestions() {
        let options = [
            "level",
            "lazy",
            "return_direct",
            "expose",
            "timeout",
            "name",
        ];
        for (word, expected) in [
            ("levle", Some("level")), // misspelled on purpose
            ("Level", Some("level")),
            ("lasy", Some("lazy")),
            ("returns_direct", Some("return_direct")),
            ("time_out", Some("timeout")),
            ("nam", Some("name")), // misspelled on purpose
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(closest(word, &options), expected, "{word}");
        }
    }
}
