//! A host of the server, for tests: frames in, frames out, one a line.

#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use restartlint::pass::authority::{BREAK_GLASS_VARIABLE, OVERRIDE_VARIABLE};
use serde_json::{Value, json};

/// A server and both ends of its pipes.
pub struct Host {
    pub server: Child,
    pub answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Host {
    pub fn start(root: &Path, authority: &[&str]) -> Host {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("restartlint"));
        command.arg("mcp").arg("--root").arg(root);
        for variable in [OVERRIDE_VARIABLE, BREAK_GLASS_VARIABLE] {
            command.env_remove(variable);
        }
        for variable in authority {
            command.env(variable, "1");
        }
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(server.stdout.take().unwrap());
        Host { server, answers, asked: 0 }
    }

    pub fn ready(root: &Path, authority: &[&str]) -> Host {
        let mut host = Host::start(root, authority);
        let client = json!({"name": "test", "version": "1"});
        let answer = host.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "restartlint", "{answer}");
        host.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        host
    }

    pub fn write(&mut self, line: &str) {
        let mut input = self.server.stdin.as_ref().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let frame = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.write(&frame.to_string());
        self.asked
    }

    pub fn answer(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.answers.read_line(&mut line).unwrap() > 0, "the server closed its output");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no frame: {line}"))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Closes standard input; the server must leave with status 0 and say nothing more.
    pub fn end(mut self) {
        drop(self.server.stdin.take());
        let mut rest = String::new();
        self.answers.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(self.server.wait().unwrap().success());
    }
}
