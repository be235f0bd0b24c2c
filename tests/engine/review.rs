//! What a review of the whole engine asked, each question as the behavior that answers it.

use std::time::Duration;

use super::stage::Stage;

#[tokio::test]
async fn a_host_value_may_look_at_the_session_when_it_is_replaced() {
    struct Looks(skills_engine::Session);
    impl Drop for Looks {
        fn drop(&mut self) {
            let _ = self.0.get::<u8>();
        }
    }
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let other = session.clone();
    let thread = std::thread::spawn(move || {
        other.put(Looks(other.clone()));
        other.put(Looks(other.clone()));
    });
    for _ in 0..1_000 {
        if thread.is_finished() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it waits for itself");
}
