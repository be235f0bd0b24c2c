use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads `500ms`, `30s`, `5m` or `24h`; the error says what is wrong with another text.
pub(super) fn read(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    match (number, known) {
        ("", _) => Err(FORM.to_owned()),
        (number, None) if unit.is_empty() && number.len() <= 10 => Err(unit_missing(number)),
        (_, None) => Err(FORM.to_owned()),
        (number, Some((_, factor))) => {
            let milliseconds = number
                .parse()
                .ok()
                .and_then(|number: u64| number.checked_mul(*factor))
                .filter(|milliseconds| *milliseconds <= i64::MAX.unsigned_abs());
            match milliseconds {
                None => Err("write a shorter time".to_owned()),
                Some(0) => Err("write a time longer than 0".to_owned()),
                Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
            }
        }
    }
}

pub(super) const FORM: &str = "write a time with its unit, such as `500ms`, `30s`, `5m` or `24h`";

/// What to write instead of a number without a unit.
pub(super) fn unit_missing(number: &str) -> String {
    format!("write its unit, such as `{number}s` for seconds or `{number}ms` for milliseconds")
}

/// The shortest text that [`read`] takes for a time; one finer than milliseconds is shown as Rust does.
pub(super) fn text(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    if Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX)) != duration {
        return format!("{duration:?}");
    }
    UNITS
        .iter()
        .find(|(_, factor)| milliseconds > 0 && milliseconds.is_multiple_of((*factor).into()))
        .map_or_else(
            || "0ms".to_owned(),
            |(unit, factor)| format!("{}{unit}", milliseconds / u128::from(*factor)),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_from_the_text_it_is_written_as() {
        for written in [
            "1ms", "500ms", "1500ms", "2s", "90s", "5m", "1h", "24h", "720h",
        ] {
            assert_eq!(text(read(written).unwrap()), written);
        }
        assert_eq!(read("86400s").unwrap(), read("24h").unwrap());
        assert_eq!(text(Duration::ZERO), "0ms");
        assert_eq!(text(Duration::from_micros(1_500)), "1.5ms");
        assert_eq!(text(Duration::MAX), format!("{:?}", Duration::MAX));
    }

    #[test]
    fn what_is_no_time_says_what_to_write() {
        for (written, advice) in [
            ("", "with its unit"),
            ("s", "with its unit"),
            ("5 s", "with its unit"),
            ("1.5s", "with its unit"),
            ("-1s", "with its unit"),
            ("1d", "with its unit"),
            ("1h30m", "with its unit"),
            ("٣s", "with its unit"),
            ("30", "`30s` for seconds"),
            ("0s", "longer than 0"),
            ("9223372036854775808ms", "shorter"),
            ("99999999999999999999h", "shorter"),
        ] {
            let problem = read(written).unwrap_err();
            assert!(problem.contains(advice), "{written}: {problem}");
        }
    }
}
