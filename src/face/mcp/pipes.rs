//! Standard input and output as the protocol's transport.
//!
//! Each has a thread of its own that blocks on it, so that a host that does not read keeps
//! nothing but its own answers back. The session ends when standard input ends, or when
//! nobody reads standard output any more: there is nobody left who could be answered.

use std::io::{BufRead, ErrorKind, Write};
use std::sync::mpsc as line;
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ErrorCode, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::json;
use tokio::sync::{mpsc, oneshot, watch};

use super::frames::{self, Frame, refused, unreadable};
use super::ids::Ids;
use super::open::Open;
use crate::face::output;

/// The longest line that is held in memory, in bytes.
const MOST: usize = 16 << 20;
/// What is kept of the buffer of a long line, in bytes.
const KEPT: usize = 64 << 10;
/// How many messages wait for the session.
const WAITING: usize = 32;
/// The wait before a pipe that does not block is tried again.
const AGAIN: Duration = Duration::from_millis(5);
/// How long the last answers may take when the session is over.
const LAST: Duration = Duration::from_secs(2);

/// The transport.
pub(super) struct Pipes {
    messages: mpsc::Receiver<Box<ClientJsonRpcMessage>>,
    answers: line::Sender<Answer>,
    open: Open,
    ended: Ended,
}

/// A line to write, and who wants to know that it is written.
struct Answer {
    line: String,
    written: Option<oneshot::Sender<()>>,
}

/// Whether the session can go on. Clones are the same.
#[derive(Clone)]
pub(super) struct Ended {
    /// Standard input has ended, or nobody reads standard output.
    any: watch::Receiver<bool>,
    unread: watch::Receiver<bool>,
}

impl Ended {
    /// Comes back when it is over.
    pub async fn wait(&mut self) {
        // A sender that is gone has ended too.
        let _ = self.any.wait_for(|ended| *ended).await;
    }
}

/// Begins to read and to write.
///
/// # Errors
/// No thread could be started.
pub(super) fn standard(open: Open) -> std::io::Result<(Pipes, Ended)> {
    let (any, unread) = (watch::Sender::new(false), watch::Sender::new(false));
    let ended = Ended { any: any.subscribe(), unread: unread.subscribe() };
    let (send, messages) = mpsc::channel(WAITING);
    let (answers, lines) = line::channel();
    let over = any.clone();
    thread::Builder::new().name("answers".to_owned()).spawn(move || {
        write_all(lines, &mut std::io::stdout().lock());
        unread.send_replace(true);
        over.send_replace(true);
    })?;
    let reader = Reader { messages: send, answers: answers.clone(), open: open.clone() };
    thread::Builder::new().name("requests".to_owned()).spawn(move || {
        reader.read_all(&mut std::io::stdin().lock());
        any.send_replace(true);
    })?;
    Ok((Pipes { messages, answers, open, ended: ended.clone() }, ended))
}

impl Transport<RoleServer> for Pipes {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let wanted = answered(&item).is_none_or(|id| self.open.end(id));
        let answers = self.answers.clone();
        async move {
            if !wanted {
                return Ok(());
            }
            let line = serde_json::to_string(&item)?;
            let (written, told) = oneshot::channel();
            let sent = answers.send(Answer { line, written: Some(written) });
            match (sent, told.await) {
                (Ok(()), Ok(())) => Ok(()),
                _ => Err(std::io::Error::new(ErrorKind::BrokenPipe, "nobody reads standard output")),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        tokio::select! {
            message = self.messages.recv() => message.map(|message| *message),
            _ = self.ended.unread.wait_for(|ended| *ended) => None,
        }
    }

    /// Waits until what is said has been written.
    async fn close(&mut self) -> Result<(), Self::Error> {
        let (written, told) = oneshot::channel();
        let _ = self.answers.send(Answer { line: String::new(), written: Some(written) });
        // A host that does not read any more does not keep this process.
        let _ = tokio::time::timeout(LAST, told).await;
        Ok(())
    }
}

/// The id of the request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// Writes lines until there are no more, or nobody reads them.
fn write_all(lines: line::Receiver<Answer>, out: &mut impl Write) {
    for Answer { mut line, written } in lines {
        if !line.is_empty() {
            line.push('\n');
        }
        if write_one(line.as_bytes(), out).is_err() {
            return;
        }
        if let Some(written) = written {
            let _ = written.send(());
        }
    }
}

fn write_one(mut bytes: &[u8], out: &mut impl Write) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) => passing(error)?,
        }
    }
    loop {
        match out.flush() {
            Ok(()) => return Ok(()),
            Err(error) => passing(error)?,
        }
    }
}

/// Waits where an error will pass: a host may have made the pipe one that does not block.
fn passing(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock => {
            thread::sleep(AGAIN);
            Ok(())
        }
        _ => Err(error),
    }
}

/// The reading side.
struct Reader {
    messages: mpsc::Sender<Box<ClientJsonRpcMessage>>,
    answers: line::Sender<Answer>,
    open: Open,
}

impl Reader {
    /// Reads lines until there are no more. A last line needs no line end.
    fn read_all(&self, input: &mut impl BufRead) {
        let mut held: Vec<u8> = Vec::new();
        // The ids of a line that is too long to be held.
        let mut long: Option<Ids> = None;
        loop {
            let piece = match input.fill_buf() {
                Ok(piece) => piece,
                Err(error) => match passing(error) {
                    Ok(()) => continue,
                    Err(error) => {
                        output::warn(&format!("standard input cannot be read: {error}"));
                        &[]
                    }
                },
            };
            let (end, taken) = match memchr::memchr(b'\n', piece) {
                Some(at) => (true, at + 1),
                None => (piece.is_empty(), piece.len()),
            };
            let piece = piece.get(..taken).unwrap_or_default();
            match &mut long {
                Some(ids) => ids.feed(piece),
                None if held.len() + taken > MOST => {
                    let mut ids = Ids::default();
                    ids.feed(&held);
                    ids.feed(piece);
                    held = Vec::new();
                    long = Some(ids);
                }
                None => held.extend_from_slice(piece),
            }
            input.consume(taken);
            if end {
                let frames = match long.take() {
                    Some(ids) => unreadable(ids, &format!("the frame is longer than {MOST} bytes")),
                    None => frames::read(&held),
                };
                frames.into_iter().for_each(|frame| self.take(frame));
                held.clear();
                held.shrink_to(KEPT);
            }
            if taken == 0 {
                return;
            }
        }
    }

    fn take(&self, frame: Frame) {
        let message = match frame {
            Frame::Answer(line) => return self.answer(line),
            Frame::Message(message) => message,
        };
        match &*message {
            ClientJsonRpcMessage::Request(request) => {
                let (id, shown) = (request.id.clone(), json!(request.id));
                if !self.open.begin(&id) {
                    let why = format!("the id {shown} is that of a request that has no answer yet");
                    return self.answer(refused(Some(&shown), ErrorCode::INVALID_REQUEST, &why));
                }
                if self.messages.blocking_send(message).is_err() {
                    self.open.end(&id);
                    let why = "there is no session: reconnect from the host";
                    self.answer(refused(Some(&shown), ErrorCode::INTERNAL_ERROR, why));
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    // The request still runs, and has its answer to give up, until its work has ended.
                    cancelled.params.request_id.iter().for_each(|id| self.open.cancel(id));
                } else {
                    let _ = self.messages.blocking_send(message);
                }
            }
            _ => {
                let _ = self.messages.blocking_send(message);
            }
        }
    }

    fn answer(&self, line: String) {
        // If nobody reads any more, nobody misses it.
        let _ = self.answers.send(Answer { line, written: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(input: &[u8], capacity: usize) -> (Vec<RequestId>, Vec<serde_json::Value>) {
        let (send, mut messages) = mpsc::channel(WAITING);
        let (answers, lines) = line::channel();
        let reader = Reader { messages: send, answers, open: Open::default() };
        reader.read_all(&mut BufReader::with_capacity(capacity, input));
        drop(reader);
        let mut ids = Vec::new();
        while let Some(message) = messages.blocking_recv() {
            if let ClientJsonRpcMessage::Request(request) = *message {
                ids.push(request.id);
            }
        }
        (ids, lines.iter().map(|answer| serde_json::from_str(&answer.line).unwrap()).collect())
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_the_next_is_read() {
        let mut input = br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":""#.to_vec();
        input.resize(MOST + 100, b'a');
        input.extend(b"\"},\"id\":7}\n{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}");
        for capacity in [1 << 10, 1 << 26] {
            let (ids, answers) = read(&input, capacity);
            assert_eq!(ids, [RequestId::Number(8)]);
            let [answer] = answers.as_slice() else { panic!("{answers:?}") };
            assert_eq!(answer["id"], 7);
            assert!(answer["error"]["message"].as_str().unwrap().contains("longer than"), "{answer}");
        }
    }

    #[test]
    fn a_second_request_of_an_open_id_is_refused() {
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n";
        let (ids, answers) = read(ping.repeat(2).as_bytes(), 64);
        assert_eq!(ids, [RequestId::String("a".into())]);
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["id"], "a");
    }

    /// A pipe that does not block, and takes a byte at a time.
    struct Slow(Vec<u8>, bool);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.0.extend(bytes.iter().take(1));
            Ok(1)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_pipe_that_does_not_block_loses_nothing() {
        let (send, lines) = line::channel();
        for text in ["one", "two"] {
            send.send(Answer { line: text.to_owned(), written: None }).unwrap();
        }
        drop(send);
        let mut out = Slow(Vec::new(), false);
        write_all(lines, &mut out);
        assert_eq!(out.0, b"one\ntwo\n");
    }
}
