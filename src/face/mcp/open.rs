//! The requests that have no answer yet, by their ids.
//!
//! Two open requests of one id could get each other's answer, so the second is refused.
//! The same holds for a call that was cancelled until its work has ended: its answer is
//! then left out, and only then its id is free.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::watch;

/// The open requests. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Open(Arc<Mutex<HashMap<RequestId, watch::Sender<bool>>>>);

impl Open {
    /// Takes a request up; false if one of its id is open.
    pub fn begin(&self, id: &RequestId) -> bool {
        let mut open = self.all();
        if open.contains_key(id) {
            return false;
        }
        open.insert(id.clone(), watch::Sender::new(false));
        true
    }

    /// A request has its answer; true if it is still wanted.
    pub fn end(&self, id: &RequestId) -> bool {
        self.all().remove(id).is_none_or(|cancelled| !*cancelled.borrow())
    }

    /// Cancels a request, if it is open.
    pub fn cancel(&self, id: &RequestId) {
        if let Some(cancelled) = self.all().get(id) {
            cancelled.send_replace(true);
        }
    }

    /// Comes back when the request is cancelled, else never.
    pub async fn cancelled(&self, id: &RequestId) {
        let told = self.all().get(id).map(watch::Sender::subscribe);
        if let Some(mut told) = told
            && told.wait_for(|cancelled| *cancelled).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }

    fn all(&self) -> MutexGuard<'_, HashMap<RequestId, watch::Sender<bool>>> {
        // Each change is one call that leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_id_is_free_when_its_request_has_ended() {
        let (open, id) = (Open::default(), RequestId::Number(5));
        assert!(open.begin(&id));
        assert!(!open.begin(&id));
        assert!(open.end(&id));
        assert!(open.begin(&id));
        open.cancel(&id);
        open.cancelled(&id).await;
        assert!(!open.begin(&id));
        assert!(!open.end(&id));
        assert!(open.begin(&id));
        // An answer that no request waits for, such as one before the session, passes.
        assert!(open.end(&RequestId::Number(6)));
        open.cancel(&RequestId::Number(6));
        assert_eq!(open.all().len(), 1);
    }
}
