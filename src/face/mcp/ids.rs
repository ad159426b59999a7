//! The ids of the requests in bytes that are no readable frame. Pure.
//!
//! Whoever sends a request waits for an answer with its id, also where the frame is cut off,
//! too long, nested too deep or no UTF-8. So the ids are looked for without a parser, a byte
//! at a time: what is kept does not grow with the frame.

use serde_json::Value;

/// The longest id that is kept, in bytes.
const MOST_ID: usize = 1024;
/// How many ids of one line are kept.
const MOST_IDS: usize = 1000;

/// A search over the bytes of one line, in as many pieces as they come.
#[derive(Debug, Default)]
pub(super) struct Ids {
    found: Vec<Value>,
    /// How many lists and objects are open.
    depth: usize,
    /// The depth of the members of a frame: 1, or 2 in a batch.
    level: usize,
    text: Text,
    /// The bytes of the key or value that is being read.
    word: Vec<u8>,
    /// Whether the word is a key.
    key: bool,
    frame: Frame,
}

/// Where a text is.
#[derive(Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

/// What is known of one frame.
#[derive(Debug, Default)]
struct Frame {
    name: Vec<u8>,
    id: Option<Value>,
    /// An answer: it is never answered.
    answer: bool,
}

impl Ids {
    /// Looks through the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The ids of the requests, in their order.
    pub fn finish(mut self) -> Vec<Value> {
        // A number that the line's end cuts off may be another one.
        if self.word.ends_with(b"\"") {
            self.member();
        }
        self.close();
        self.found
    }

    fn byte(&mut self, byte: u8) {
        match self.text {
            Text::Inside => {
                self.keep(byte);
                match byte {
                    b'"' => self.text = Text::Outside,
                    b'\\' => self.text = Text::Escaped,
                    _ => {}
                }
                return;
            }
            Text::Escaped => {
                self.keep(byte);
                self.text = Text::Inside;
                return;
            }
            Text::Outside => {}
        }
        let members = self.depth == self.level && self.depth > 0;
        match byte {
            b'"' => {
                self.keep(byte);
                self.text = Text::Inside;
            }
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.level = if byte == b'{' { 1 } else { 2 };
                }
                self.depth += 1;
                if self.depth == self.level {
                    (self.key, self.frame) = (true, Frame::default());
                    self.word.clear();
                }
            }
            b'}' | b']' => {
                if members {
                    self.member();
                    self.close();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if members && self.key => {
                self.frame.name = std::mem::take(&mut self.word);
                self.key = false;
                self.frame.answer |= matches!(self.frame.name.as_slice(), b"\"result\"" | b"\"error\"");
            }
            b',' if members => self.member(),
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == self.level && self.word.len() <= MOST_ID && !byte.is_ascii_whitespace() {
            self.word.push(byte);
        }
    }

    /// A member has ended.
    fn member(&mut self) {
        let word = std::mem::take(&mut self.word);
        if self.frame.name.as_slice() == b"\"id\"" && word.len() <= MOST_ID {
            let id = serde_json::from_slice(&word).ok().filter(usable);
            self.frame.id = id.or(self.frame.id.take());
        }
        self.frame.name.clear();
        self.key = true;
    }

    /// A frame has ended.
    fn close(&mut self) {
        let frame = std::mem::take(&mut self.frame);
        if let Some(id) = frame.id
            && !frame.answer
            && self.found.len() < MOST_IDS
        {
            self.found.push(id);
        }
    }
}

/// Whether an answer can bear this id: a number or a text.
pub(super) fn usable(id: &Value) -> bool {
    id.is_number() || id.is_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn ids(line: impl AsRef<[u8]>) -> Vec<Value> {
        let mut ids = Ids::default();
        ids.feed(line.as_ref());
        ids.finish()
    }

    #[test]
    fn ids_are_found_in_what_no_parser_reads() {
        let five = vec![json!(5)];
        assert_eq!(ids(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"#), five);
        assert_eq!(ids(r#"{"method":"x","params":{"id":7,"a":["id",{"id":8}]},"id" : 5, "#), five);
        assert_eq!(ids(b"{\"id\":5,\"params\":\"\xff\xfe\"}"), five);
        assert_eq!(ids(format!("{{\"params\":{}1,\"id\":5}}", "[".repeat(5000))), Vec::<Value>::new());
        assert_eq!(ids(format!("{{\"id\":5,\"params\":{}", "[".repeat(5000))), five);
        assert_eq!(ids(r#"{"a":"\",\"id\":9}","id":5}"#), five);
        assert_eq!(ids(r#"{"id":"a b"}{"id":2}"#).len(), 2);
        assert_eq!(ids(r#"[{"id":1,"method":"x"},{"id":"two"},{"id":{}}, 7"#), [json!(1), json!("two")]);
        assert_eq!(ids(r#"{"id":1.5}"#), [json!(1.5)]);
    }

    #[test]
    fn what_asks_for_no_answer_has_no_id() {
        for line in [
            "",
            "garbage",
            "id",
            r#""id":5"#,
            r#"{"id":null}"#,
            r#"{"id":5,"result":{"#,
            r#"{"id":5,"error":1"#,
            r#"{"method":"x""#,
            r#"{"id":"#,
            r#"{"id":5"#,
            "}}]]",
            r#"[[{"id":5}]]"#,
        ] {
            assert_eq!(ids(line), Vec::<Value>::new(), "{line}");
        }
        assert_eq!(ids(format!("{{\"id\":\"{}\"}}", "x".repeat(2000))), Vec::<Value>::new());
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same(bytes: Vec<u8>, at: prop::sample::Index) {
            let mut ids = Ids::default();
            let (head, tail) = bytes.split_at(at.index(bytes.len() + 1));
            ids.feed(head);
            ids.feed(tail);
            prop_assert_eq!(ids.finish(), super::tests::ids(&bytes));
        }

        #[test]
        fn the_id_of_a_request_is_found(id: u32, text in ".*", last: bool) {
            let text = json!({"id": text, "list": [text, {"id": 3}]});
            let line = match last {
                true => format!(r#"{{"method":"m","params":{text},"id":{id}}}"#),
                false => format!(r#"{{"id":{id},"method":"m","params":{text}}}"#),
            };
            prop_assert_eq!(ids(line), [json!(id)]);
        }
    }
}
