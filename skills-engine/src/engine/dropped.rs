/// Fingerprints of what was dropped of late: a fixed number, the newest of those that share a row.
///
/// A place that is free holds zero, which hardly any sequence has.
pub(super) struct Dropped {
    rows: Box<[[u64; 8]]>,
}

impl Dropped {
    /// Eight of them for each 64 KiB of layouts, which is one in a thousand.
    pub(super) fn new(most_bytes: usize) -> Self {
        let rows = (most_bytes >> 16).clamp(1, 1 << 16);
        Self {
            rows: vec![[0; 8]; rows].into_boxed_slice(),
        }
    }

    fn row(&mut self, fingerprint: u64) -> &mut [u64; 8] {
        let rows = self.rows.len() as u64;
        // Below the number of rows, which is a `usize`.
        let row = usize::try_from(fingerprint % rows).unwrap_or(0);
        &mut self.rows[row]
    }

    pub(super) fn add(&mut self, fingerprint: u64) {
        let row = self.row(fingerprint);
        row.rotate_right(1);
        row[0] = fingerprint;
    }

    pub(super) fn contains(&mut self, fingerprint: u64) -> bool {
        self.row(fingerprint).contains(&fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_remembered_and_the_newest_of_them() {
        let mut dropped = Dropped::new(1 << 20);
        assert_eq!(size_of_val(&*dropped.rows), 1_024);
        let fingerprints: Vec<u64> = (1..=5_000_u64)
            .map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7)
            .collect();
        for fingerprint in &fingerprints {
            assert!(!dropped.contains(*fingerprint));
            dropped.add(*fingerprint);
            assert!(dropped.contains(*fingerprint));
        }
        let mut remembered = |fingerprints: &[u64]| {
            let fingerprints = fingerprints.iter();
            fingerprints.filter(|one| dropped.contains(**one)).count()
        };
        assert_eq!(remembered(&fingerprints), 128);
        assert!(remembered(&fingerprints[4_950..]) > 45);
    }

    #[test]
    fn a_cache_of_no_bytes_remembers_a_few_all_the_same() {
        let mut dropped = Dropped::new(0);
        (1..=9).for_each(|number| dropped.add(number));
        assert!(!dropped.contains(1) && dropped.contains(2));
    }
}
