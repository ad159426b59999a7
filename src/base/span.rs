//! Places in a text: byte spans, and the lines and columns that people read.

use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets into a decoded source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, both byte offsets.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The same span as a range that indexes a `str`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether `offset` lies inside.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// A line and a column, both counted from 1; the column counts Unicode scalar
/// values, so a tab is one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in Unicode scalar values, from 1.
    pub column: u32,
}

/// Where each line of a text starts. Lines end at `\n`, `\r\n` or a lone `\r`.
#[derive(Debug, Clone, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// How many scalar values stand before each block of bytes; empty where no line is longer than one.
    blocks: Vec<u32>,
}

/// How many bytes of a line are counted through to find a column.
const BLOCK: usize = 4096;

/// Scalar values in UTF-8: every byte but those that continue one.
fn scalars(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count()).unwrap_or(u32::MAX)
}

impl LineIndex {
    /// Indexes `text`. One pass over its bytes.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // The `\n` of a `\r\n` ends the line, not its `\r`.
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
        }
        let long = |from: u32, to: usize| to.saturating_sub(from as usize) > BLOCK;
        let ends = starts.iter().skip(1).map(|&e| e as usize).chain([bytes.len()]);
        let mut blocks = Vec::new();
        if starts.iter().zip(ends).any(|(&from, to)| long(from, to)) {
            let mut count = 0u32;
            for block in bytes.chunks(BLOCK) {
                blocks.push(count);
                count = count.saturating_add(scalars(block));
            }
            blocks.push(count);
        }
        LineIndex { starts, blocks }
    }

    /// How many scalar values stand before an offset, where there are blocks.
    fn before(&self, text: &str, offset: usize) -> Option<u32> {
        let block = offset / BLOCK;
        let rest = text.as_bytes().get(block * BLOCK..offset)?;
        Some(self.blocks.get(block)?.saturating_add(scalars(rest)))
    }

    /// The line (from 1) that holds the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|&s| s <= offset)).unwrap_or(u32::MAX)
    }

    /// The place of `offset` in `text`, which must be the text that was indexed.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line(offset).max(1);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(text.len());
        let counted = if end.saturating_sub(start) > BLOCK && text.is_char_boundary(end) {
            self.before(text, end).zip(self.before(text, start)).map(|(end, start)| end.saturating_sub(start))
        } else {
            None
        };
        let direct = || text.get(start..end).map_or(0, |s| scalars(s.as_bytes()));
        Position { line, column: counted.unwrap_or_else(direct).saturating_add(1) }
    }

    /// The bytes of a line (from 1), its end included.
    pub fn line_span(&self, text: &str, line: u32) -> Span {
        let at = line.max(1) as usize - 1;
        let start = self.starts.get(at).copied().unwrap_or(0) as usize;
        let end = self.starts.get(at + 1).map_or(text.len(), |&e| e as usize);
        Span::new(start, end)
    }

    /// How many lines there are; a trailing line end starts one more.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Never true: an empty text has one empty line.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalar_values_and_crlf_is_one_line_end() {
        let text = "a\r\né🧪x\ny\rz";
        let index = LineIndex::new(text);
        let at = |needle: &str| index.position(text, text.find(needle).unwrap() as u32);
        assert_eq!(at("x"), Position { line: 2, column: 3 });
        assert_eq!(at("y"), Position { line: 3, column: 1 });
        assert_eq!(at("z"), Position { line: 4, column: 1 });
        assert_eq!(&text[index.line_span(text, 2).range()], "é🧪x\n");
    }

    #[test]
    fn columns_of_long_lines_are_counted_alike() {
        let text = format!("a\n{}\nb{}", "é x🧪".repeat(3000), "y".repeat(9000));
        let index = LineIndex::new(&text);
        for (at, _) in text.char_indices().step_by(97) {
            let column = text[..at].rsplit('\n').next().unwrap().chars().count() as u32 + 1;
            assert_eq!(index.position(&text, at as u32).column, column, "{at}");
        }
    }
}
