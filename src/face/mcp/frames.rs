//! Lines as frames of the protocol: which message a line is, or which answer it gets at
//! once. Pure.
//!
//! A line that gives an id gets an answer with that id, whatever is wrong with it. A line
//! that is no JSON and gives none is left without one, as other implementations do: an
//! answer to an echo would never end.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};

use super::ids::{Ids, usable};
use crate::base::json as strict;

/// What a line is.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Not one: the line that answers it.
    Answer(String),
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Vec<Frame> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    // A key that occurs twice is refused at any depth: two readers would see two commands.
    let value = std::str::from_utf8(line)
        .map_err(|error| format!("no UTF-8 from its byte {} on", error.valid_up_to()))
        .and_then(|text| strict::read_value(text).map_err(|fault| format!("no JSON: {fault}")));
    match value {
        // A batch: each of its requests is answered for itself.
        Ok(Value::Array(items)) if !items.is_empty() => items.into_iter().filter_map(one).collect(),
        Ok(value) => one(value).into_iter().collect(),
        Err(why) => {
            let mut ids = Ids::default();
            ids.feed(line);
            unreadable(ids, &format!("the frame is {why}"))
        }
    }
}

/// Answers to a line of which only the ids are known.
pub(super) fn unreadable(ids: Ids, why: &str) -> Vec<Frame> {
    ids.finish().iter().map(|id| Frame::Answer(refused(Some(id), ErrorCode::PARSE_ERROR, why))).collect()
}

fn one(value: Value) -> Option<Frame> {
    let has = |name: &str| value.get(name).is_some();
    // A notification that nobody knows, and an answer that nobody waits for, get none.
    let silent = if has("id") { !has("method") && (has("result") || has("error")) } else { has("method") };
    let id = value.get("id").filter(|id| usable(id)).cloned();
    match serde_json::from_value(value) {
        Ok(message) => Some(Frame::Message(Box::new(message))),
        Err(_) if silent => None,
        Err(_) => Some(Frame::Answer(refused(id.as_ref(), ErrorCode::INVALID_REQUEST, SHAPE))),
    }
}

const SHAPE: &str = "the frame is no request of JSON-RPC 2.0: an object with `jsonrpc` \"2.0\", an `id` that is an integer or \
     a text, a `method`, and `params` that are an object";

/// An error as a line.
pub(super) fn refused(id: Option<&Value>, code: ErrorCode, why: &str) -> String {
    let mut frame = json!({"jsonrpc": "2.0", "error": {"code": code.0, "message": why}});
    if let (Some(id), Some(members)) = (id, frame.as_object_mut()) {
        members.insert("id".to_owned(), id.clone());
    }
    frame.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of a line, in short.
    fn read_as(line: impl AsRef<[u8]>) -> Vec<String> {
        let short = |frame| match frame {
            Frame::Message(message) => match *message {
                ClientJsonRpcMessage::Request(request) => format!("request {}", request.id),
                ClientJsonRpcMessage::Notification(_) => "notification".to_owned(),
                _ => "answer".to_owned(),
            },
            Frame::Answer(line) => {
                let answer: Value = serde_json::from_str(&line).unwrap();
                format!("error {} {}", answer["error"]["code"], answer["id"])
            }
        };
        read(line.as_ref()).into_iter().map(short).collect()
    }

    #[test]
    fn whoever_gives_an_id_gets_an_answer() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"x","params":{}"#, "[".repeat(100_000));
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#, "request 5"),
            ("\u{feff}  {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"} \r", "request 5"),
            (r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"#, "error -32700 5"),
            (deep.as_str(), "error -32700 5"),
            (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, "error -32600 5"),
            (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, "error -32600 5"),
            (r#"{"jsonrpc":"2.0","id":5}"#, "error -32600 5"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "error -32600 1.5"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"x","params":[1]}"#, "error -32600 \"a\""),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "error -32600 null"),
            ("[]", "error -32600 null"),
            ("7", "error -32600 null"),
        ] {
            assert_eq!(read_as(line), [expected], "{line:.80}");
        }
        let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#;
        assert_eq!(read_as(twice), ["error -32700 2"]);
        let twice = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#;
        assert_eq!(read_as(twice), ["error -32700 5"]);
        let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}";
        assert_eq!(read_as(bytes), ["error -32700 5"]);
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":3},4]"#;
        assert_eq!(read_as(batch), ["request 1", "error -32600 2", "error -32600 null"]);
        let two = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        assert_eq!(read_as(two), ["error -32700 1", "error -32700 2"]);
    }

    #[test]
    fn what_asks_for_no_answer_gets_none() {
        for line in [
            "",
            " \r",
            "garbage",
            "\u{0}",
            r#"{"jsonrpc":"2.0""#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":[1]}"#,
            r#"{"jsonrpc":"3.0","method":"notifications/x"}"#,
            r#"{"jsonrpc":"2.0","id":5,"result":7,"error":8}"#,
        ] {
            assert_eq!(read_as(line), Vec::<String>::new(), "{line}");
        }
    }
}
