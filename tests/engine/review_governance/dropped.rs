//! Approved calls that are dropped half way, or meet: each runs once, or can still be carried out.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use skills_engine::engine::{ApprovalAnswer, ApprovalToken, LeavePending};
use skills_engine::skill::Code;
use skills_engine::{Level, Session};
use tests::{answer, call};

use crate::made;
use crate::stage::{self, Stage, settle};

/// A stage with the tool `desk__pay`, which needs an approval and takes a while, and a call of it that is approved.
struct Desk {
    stage: Stage,
    session: Session,
    runs: Arc<AtomicUsize>,
    token: ApprovalToken,
}

impl Desk {
    async fn new(yields: usize) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let noted = Arc::clone(&runs);
        let pay = stage::tool("pay", move |_, _| {
            noted.fetch_add(1, Ordering::SeqCst);
            async {
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                "paid"
            }
        });
        let pay = pay.level(Level::Metadata).requires_approval();
        let stage = Stage::with(yields, |builder| {
            let builder = builder.with_skill(made::skill("desk", [pay]));
            builder.approvals(LeavePending)
        })
        .await;
        let session = stage.session("s1").await;
        let mut turn = stage::turn(&session).await;
        let result = call(&mut turn, "desk__pay", "{}").await;
        let token = result.pending.unwrap();
        Self {
            stage,
            session,
            runs,
            token,
        }
    }

    fn approve(&self) {
        self.session
            .answer(&self.token, ApprovalAnswer::Approve)
            .unwrap();
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    async fn uses(&self) -> usize {
        self.stage.engine.audit().flush().await;
        let entries = self.stage.sink.entries();
        let uses = entries.iter().filter(|entry| entry.kind == "approval_used");
        uses.count()
    }
}

#[tokio::test]
async fn se30_wherever_a_resumption_is_dropped_its_call_runs_once() {
    for polls in 0..12 {
        let desk = Desk::new(1).await;
        desk.approve();
        let turn = stage::turn(&desk.session).await;
        {
            let mut resumed = pin!(turn.resume(&desk.token));
            let mut cx = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                if let Poll::Ready(result) = resumed.as_mut().poll(&mut cx) {
                    assert_eq!(result.unwrap().text(), "paid");
                    break;
                }
            }
        }
        settle().await;
        let has_run = desk.runs();
        let again = turn.resume(&desk.token).await;
        match has_run {
            0 => assert_eq!(again.unwrap().text(), "paid", "{polls}"),
            _ => assert_eq!(again.unwrap_err().code, Code::Conflict, "{polls}"),
        }
        assert_eq!((desk.runs(), desk.uses().await), (1, 1), "{polls}");
        assert_eq!(has_run, usize::from(polls > 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn se30_whatever_happens_at_once_an_approved_call_runs_at_most_once() {
    for round in 0..40 {
        let desk = Desk::new(0).await;
        let callers = (0..4).map(|caller| {
            let (session, token) = (desk.session.clone(), desk.token.clone());
            tokio::spawn(async move {
                let Ok(mut turn) = session.turn("pay").await else {
                    return;
                };
                for _ in 0..10 {
                    if caller % 2 == 0 {
                        let _ = turn.resume(&token).await;
                    } else {
                        answer(&mut turn, "desk__pay", "{}").await;
                    }
                    tokio::task::yield_now().await;
                }
            })
        });
        let callers: Vec<_> = callers.collect();
        let (engine, session) = (desk.stage.engine.clone(), desk.session.clone());
        let host = tokio::spawn(async move {
            for switch in 0..20 {
                engine.set_enabled("desk", switch % 2 == 1).unwrap();
                session.set_roles([format!("role {switch}")]);
                tokio::task::yield_now().await;
            }
            if round % 3 == 0 {
                session.end("done").await.unwrap();
            }
        });
        tokio::task::yield_now().await;
        let _ = desk.session.answer(&desk.token, ApprovalAnswer::Approve);
        let deny = ApprovalAnswer::Deny("no".to_owned());
        let _ = desk.session.answer(&desk.token, deny);
        for task in callers.into_iter().chain([host]) {
            task.await.unwrap();
        }
        assert!(desk.runs() <= 1, "{round}");
        assert_eq!(desk.uses().await, desk.runs(), "{round}");
    }
}
