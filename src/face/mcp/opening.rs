//! A transport that does not give a session up before it began.
//!
//! The handshake takes a stray notification or answer in the place of the first request
//! for the end of the session. Here such a message is left out until a session has begun.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// The transport, and whether a session has begun on it.
pub(super) struct Patient<T> {
    inner: T,
    begun: bool,
}

impl<T> Patient<T> {
    pub fn new(inner: T) -> Patient<T> {
        Patient { inner, begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if self.begun {
                return Some(message);
            }
            if let ClientJsonRpcMessage::Request(request) = &message {
                self.begun = begins(&request.request);
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// Whether a request begins a session: `initialize`, or one that says all about its sender.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.protocol_version().is_some()
                && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        }
    }
}
