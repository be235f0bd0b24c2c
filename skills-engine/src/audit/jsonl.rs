use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tokio::sync::{Semaphore, oneshot, watch};

use super::file::{Appender, Line, Lines, lines_of, parse_line, unfinished_line};
use super::{
    AuditError, AuditKey, AuditQuery, AuditRecord, AuditSink, AuditStore, ChainHead, Coverage,
    Verified, Verifier, VerifyError,
};
use crate::skill::BoxFuture;

/// Queries and checks that read the file at the same time.
const READERS: usize = 2;

/// A file of JSON lines, `{"hash":"…","record":{…}}` each: nothing but this log may write to it.
///
/// The file is written by a thread of its own, each batch in one piece; a batch that could not be written in full
/// is taken back. Chains are not continued from an earlier run: every log begins chains of its own, behind what
/// the file holds.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    requests: mpsc::Sender<Request>,
    /// The batch last handed to the thread: a batch whose future was dropped is not written twice.
    last: Mutex<Option<LastBatch>>,
    /// Bytes of the file that are complete batches.
    length: Arc<AtomicU64>,
    torn_tail: Option<u64>,
    readers: Arc<Semaphore>,
}

type Outcome = Option<Result<(), AuditError>>;

#[derive(Debug)]
struct Request {
    lines: Arc<[u8]>,
    outcome: watch::Sender<Outcome>,
}

#[derive(Debug)]
struct LastBatch {
    lines: Arc<[u8]>,
    outcome: watch::Receiver<Outcome>,
}

impl JsonLines {
    /// Opens a file for appending, or makes it, readable by its owner only. Blocks: call it when the program starts.
    ///
    /// A last line that was not written in full stays as it is, and the first new record begins a new line; see
    /// [`torn_tail`](Self::torn_tail).
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AuditError> {
        Self::open_with(path.as_ref(), false, true)
    }

    /// As [`open`](Self::open), for a file that must be there: what an auditor opens to [verify](AuditStore::verify),
    /// so that a mistyped path is not taken for a log without a fault.
    ///
    /// # Errors
    ///
    /// When there is no such file, and as [`open`](Self::open).
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self, AuditError> {
        Self::open_with(path.as_ref(), false, false)
    }

    /// As [`open`](Self::open), and waits after every batch until the disk has it: records then outlive a power
    /// failure, at the price of milliseconds a batch.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_synced(path: impl AsRef<Path>) -> Result<Self, AuditError> {
        Self::open_with(path.as_ref(), true, true)
    }

    fn open_with(path: &Path, is_synced: bool, may_create: bool) -> Result<Self, AuditError> {
        let failed = |err| AuditError::failed(format!("{}: {err}", path.display()));
        let mut options = OpenOptions::new();
        options.create(may_create).append(true).read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let tail = unfinished_line(&mut file, length).map_err(failed)?;
        // A whole record that only lacks its line break is no loss.
        let torn_tail =
            (!tail.is_empty() && parse_line(&tail).is_none()).then_some(tail.len() as u64);
        if let Some(bytes) = torn_tail {
            tracing::warn!(path = %path.display(), bytes, "the last line of the audit file was not written in full");
        }
        let (requests, receiver) = mpsc::channel::<Request>();
        let shared_length = Arc::new(AtomicU64::new(length));
        let mut appender = Appender::new(file, length, !tail.is_empty(), is_synced);
        let published = Arc::clone(&shared_length);
        let write = move || {
            for Request { lines, outcome } in receiver {
                let result = appender.append(&lines);
                published.store(appender.length(), Ordering::Release);
                outcome.send_replace(Some(result));
            }
        };
        std::thread::Builder::new()
            .name("audit-file".to_owned())
            .spawn(write)
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            requests,
            last: Mutex::new(None),
            length: shared_length,
            torn_tail,
            readers: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Bytes of the line that an earlier run left unfinished; `None` when it left none.
    #[must_use]
    pub fn torn_tail(&self) -> Option<u64> {
        self.torn_tail
    }

    /// Hands lines to the thread, or finds that it has them already. False when another batch is to be waited for.
    fn submit(&self, lines: &Arc<[u8]>) -> (watch::Receiver<Outcome>, bool) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = &*last {
            let is_same = batch.lines == *lines;
            let is_failed = matches!(&*batch.outcome.borrow(), Some(Err(_)));
            let is_pending =
                batch.outcome.borrow().is_none() && batch.outcome.has_changed().is_ok();
            if is_pending || (is_same && !is_failed) {
                return (batch.outcome.clone(), is_same);
            }
        }
        let (sender, receiver) = watch::channel(None);
        let request = Request {
            lines: Arc::clone(lines),
            outcome: sender,
        };
        // If the thread is gone, the sender goes with the request, and the receiver says so.
        let _ = self.requests.send(request);
        *last = Some(LastBatch {
            lines: Arc::clone(lines),
            outcome: receiver.clone(),
        });
        (receiver, true)
    }

    /// Runs `read` with the complete part of the file on a thread of its own.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Lines) -> io::Result<T> + Send + 'static,
    ) -> Result<T, AuditError> {
        let permit = Arc::clone(&self.readers)
            .acquire_owned()
            .await
            .map_err(AuditError::failed)?;
        let length = self.length.load(Ordering::Acquire);
        let path = self.path.clone();
        let (sender, receiver) = oneshot::channel();
        let work = move || {
            let _permit = permit;
            let lines = File::open(path).map(|file| Lines::new(file, length));
            let _ = sender.send(lines.and_then(read));
        };
        std::thread::Builder::new()
            .name("audit-file-reader".to_owned())
            .spawn(work)
            .map_err(AuditError::failed)?;
        match receiver.await {
            Ok(result) => result.map_err(AuditError::failed),
            Err(_) => Err(AuditError::failed("the reader of the file stopped")),
        }
    }
}

impl AuditSink for JsonLines {
    fn append<'a>(&'a self, records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        let lines: Arc<[u8]> = lines_of(records).into();
        Box::pin(async move {
            loop {
                let (mut outcome, is_ours) = self.submit(&lines);
                let result = match outcome.wait_for(Option::is_some).await {
                    Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
                    Err(_) => Err(AuditError::uncertain("the thread of the file stopped")),
                };
                if is_ours {
                    return result;
                }
            }
        })
    }
}

impl AuditStore for JsonLines {
    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>, AuditError>> {
        Box::pin(self.read(move |mut lines| {
            let mut found = VecDeque::new();
            while let Some(line) = lines.next()? {
                let Line::Record(record) = line else { continue };
                if query.matches(&record) {
                    found.push_back(record);
                }
                if found.len() > query.most() {
                    found.pop_front();
                }
            }
            Ok(found.into())
        }))
    }

    fn verify<'a>(
        &'a self,
        key: Option<&'a AuditKey>,
        expected_heads: &'a [ChainHead],
    ) -> BoxFuture<'a, Result<Verified, VerifyError>> {
        let (key, expected_heads) = (key.cloned(), expected_heads.to_vec());
        let check = move |mut lines: Lines| {
            let mut verifier = Verifier::new(key.as_ref(), &expected_heads, Coverage::Complete);
            while let Some(line) = lines.next()? {
                let checked = match line {
                    Line::Record(record) => verifier.check(&record),
                    Line::Torn { is_ended } => {
                        verifier.torn_line(is_ended);
                        Ok(())
                    }
                };
                if let Err(broken) = checked {
                    return Ok(Err(broken));
                }
            }
            Ok(verifier.finish())
        };
        Box::pin(async move { Ok(self.read(check).await??) })
    }

    fn coverage(&self) -> Coverage {
        Coverage::Complete
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::super::tests::fixtures::{run, written_log};
    use super::super::{Broken, Defect};
    use super::*;

    /// A file of its own for each test, gone with the test.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(name: &str) -> Self {
            let name = format!("skills-engine-audit-{}-{name}.jsonl", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_file(&path);
            Self(path)
        }

        fn text(&self) -> String {
            std::fs::read_to_string(&self.0).unwrap()
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn broken(result: Result<Verified, VerifyError>) -> Broken {
        match result {
            Err(VerifyError::Broken(broken)) => broken,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_auditor_opens_only_a_file_that_is_there_and_reads_its_lines() {
        let file = TestFile::new("existing");
        assert!(JsonLines::open_existing(&file.0).is_err());
        assert!(!file.0.exists());
        let records = written_log(5, 1);
        run(async {
            let sink = JsonLines::open(&file.0).unwrap();
            sink.append(&records).await.unwrap();
            let sink = JsonLines::open_existing(&file.0).unwrap();
            let verified = sink.verify(None, &[]).await.unwrap();
            assert_eq!(verified.records, records.len() as u64);
        });
        let read: Result<Vec<_>, _> = file.text().lines().map(AuditRecord::from_line).collect();
        assert_eq!(read.unwrap(), records);
        assert!(AuditRecord::from_line("{}").is_err());
    }

    #[test]
    fn records_are_read_back_as_they_were_written_by_any_number_of_runs() {
        let file = TestFile::new("runs");
        let runs = [written_log(40, 3), written_log(20, 2)];
        run(async {
            for (records, open) in runs.iter().zip([JsonLines::open, JsonLines::open_synced]) {
                let sink = open(&file.0).unwrap();
                assert_eq!(sink.torn_tail(), None);
                for batch in records.chunks(7) {
                    sink.append(batch).await.unwrap();
                }
            }
            let sink = JsonLines::open(&file.0).unwrap();
            let all = sink.query(AuditQuery::new()).await.unwrap();
            assert_eq!(all, runs.concat());
            let session = crate::skill::SessionId::new("s3").unwrap();
            let some = sink
                .query(AuditQuery::new().session(session).limit(5))
                .await;
            assert_eq!(some.unwrap().len(), 5);
            let heads = runs.each_ref().map(|run| run[run.len() - 1].head());
            let verified = sink.verify(None, &heads).await.unwrap();
            assert_eq!((verified.records, verified.logs), (62, 2));
        });
        for line in file.text().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(line["record"]["kind"].is_string());
        }
    }

    #[test]
    fn a_batch_that_is_there_already_is_not_written_twice() {
        let file = TestFile::new("twice");
        let records = written_log(5, 1);
        run(async {
            let sink = JsonLines::open(&file.0).unwrap();
            // As when the log has waited too long.
            let _ = sink.append(&records).now_or_never();
            sink.append(&records).await.unwrap();
            sink.append(&records).await.unwrap();
            assert_eq!(sink.verify(None, &[]).await.unwrap().records, 6);
        });
    }

    #[test]
    fn a_torn_last_line_is_reported_and_kept() {
        let (first, second) = (written_log(5, 1), written_log(3, 1));
        let lines = String::from_utf8(lines_of(&first)).unwrap();
        let rows = [
            ("half a record", lines.len() - 100, Some(5)),
            ("only the line break is missing", lines.len() - 1, None),
        ];
        for (name, length, kept) in rows {
            let file = TestFile::new(&name.replace(' ', "-"));
            std::fs::write(&file.0, &lines[..length]).unwrap();
            run(async {
                let sink = JsonLines::open(&file.0).unwrap();
                assert_eq!(sink.torn_tail().is_some(), kept.is_some(), "{name}");
                let torn = sink.verify(None, &[]).await.unwrap();
                assert_eq!(torn.torn_lines, u64::from(kept.is_some()), "{name}");
                sink.append(&second).await.unwrap();
                assert!(file.text().starts_with(&lines[..length]), "{name}");
                let verified = sink.verify(None, &[]).await.unwrap();
                let all = kept.unwrap_or(first.len() as u64) + second.len() as u64;
                assert_eq!(
                    (verified.records, verified.torn_lines),
                    (all, torn.torn_lines),
                    "{name}"
                );
                // What is lost is found by whoever knows the head.
                let head = first[first.len() - 1].head();
                assert_eq!(
                    sink.verify(None, &[head]).await.is_ok(),
                    kept.is_none(),
                    "{name}"
                );
            });
        }
    }

    #[test]
    fn a_line_that_is_no_record_any_more_is_found() {
        let records = written_log(5, 1);
        let lines = String::from_utf8(lines_of(&records)).unwrap();
        let lines: Vec<_> = lines.lines().collect();
        let long = "x".repeat(3 << 20);
        let rows = [
            (
                "in the middle",
                [&lines[..2], &["{}"], &lines[3..]].concat(),
                Defect::Missing,
            ),
            (
                "at the end",
                [&lines[..5], &["garbage"]].concat(),
                Defect::Malformed,
            ),
            (
                "very long",
                [&lines[..2], &[long.as_str()], &lines[3..]].concat(),
                Defect::Missing,
            ),
            (
                "blank",
                [&lines[..2], &[""], &lines[2..]].concat(),
                Defect::Missing,
            ),
        ];
        for (name, lines, defect) in rows {
            let file = TestFile::new(&format!("no-record-{}", name.replace(' ', "-")));
            std::fs::write(&file.0, lines.join("\n") + "\n").unwrap();
            let sink = JsonLines::open(&file.0).unwrap();
            let found = run(sink.verify(None, &[]));
            assert_eq!(broken(found).defect, defect, "{name}");
        }
    }

    #[test]
    fn a_file_that_something_else_changed_is_not_written_to() {
        let file = TestFile::new("changed");
        let records = written_log(5, 1);
        run(async {
            let sink = JsonLines::open(&file.0).unwrap();
            sink.append(&records[..3]).await.unwrap();
            std::fs::write(&file.0, "other\n").unwrap();
            let result = sink.append(&records[3..]).await;
            assert!(matches!(result, Err(AuditError::Failed(_))), "{result:?}");
            assert_eq!(file.text(), "other\n");
        });
    }

    #[test]
    fn a_path_that_cannot_be_opened_is_an_error_that_names_it() {
        let err = JsonLines::open("/no/such/folder/audit.jsonl").unwrap_err();
        assert!(
            err.to_string().contains("/no/such/folder/audit.jsonl"),
            "{err}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_fails_the_batch() {
        let records = written_log(2, 1);
        let sink = JsonLines::open("/dev/full").unwrap();
        assert!(run(sink.append(&records)).is_err());
    }
}
