//! Input of a command: a file, or `-` for standard input, and what is said of its faults.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::Failure;
use super::output::shown;
use crate::base::json::JsonFault;
use crate::data::fault::{Fault, Faults};

/// The most bytes that are read of one input.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A file, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// What `FILE|-` on the command line means. Never fails: clap wants a parser's shape.
    pub fn parse(text: &str) -> Result<Source, String> {
        Ok(if text == "-" { Source::Stdin } else { Source::File(PathBuf::from(text)) })
    }

    /// Reads all of it as text.
    pub fn read(&self) -> Result<Text, Failure> {
        let (name, read) = match self {
            Source::Stdin => ("standard input".to_owned(), read_all(std::io::stdin().lock())),
            Source::File(path) => (shown(path), read_file(path)),
        };
        let bytes = read.map_err(|error| Failure::new(format!("{name} cannot be read: {error}")))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Text { name, text }),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Err(Failure::new(format!("{name} is not UTF-8: byte {at} begins no character")))
            }
        }
    }
}

/// The bytes of a file, up to a limit.
pub fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    read_all(std::fs::File::open(path)?)
}

fn read_all(input: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it has more than 64 MiB"));
    }
    Ok(bytes)
}

/// An input that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its name for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Text {
    /// The value that a strict reader finds in it, or the fault at its place.
    pub fn value<T>(&self, reader: impl FnOnce(&str) -> Result<T, JsonFault>) -> Result<T, Failure> {
        reader(&self.text).map_err(|fault| self.fault(&fault))
    }

    fn fault(&self, fault: &JsonFault) -> Failure {
        let lines = self.text.split_inclusive('\n').take(fault.line.saturating_sub(1));
        let at = lines.map(str::len).sum::<usize>() + fault.column.saturating_sub(1);
        // A column in the middle of a character has no excerpt: go back to its start.
        let start = (0..=at.min(self.text.len())).rev().find(|i| self.text.is_char_boundary(*i)).unwrap_or(0);
        let message = format!("{}:{}:{}: {}", self.name, fault.line, fault.column, fault.message);
        let label = "here";
        match Faults::collect(&self.name, &self.text, vec![Fault::new(start..start, message.clone(), label)])
        {
            Some(faults) => Failure::Report(faults.report().into()),
            None => Failure::new(message),
        }
    }
}
