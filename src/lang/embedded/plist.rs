//! launchd property lists: `ProgramArguments` and `Program`.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::base::facts::ProblemKind;
use crate::base::span::Span;
use crate::base::text::Text;
use crate::lang::collect::Collector;

/// Reads the strings of the top dictionary's arguments.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    if text.starts_with("bplist") {
        collector.problem(
            ProblemKind::GaveUp,
            Span::default(),
            "is a binary property list, which is not read",
        );
        return;
    }
    let mut open = 0usize;
    let mut reader = Reader::from_str(&text);
    let mut key = String::new();
    let mut words: Vec<(Text, Span)> = Vec::new();
    let mut program: Option<(Text, Span)> = None;
    let mut in_array = false;
    let mut element = String::new();
    let mut value = String::new();
    let mut start = 0usize;
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                open += 1;
                element = tag.name().as_ref().to_owned();
                in_array |= element == "array" && key == "ProgramArguments";
                value.clear();
                start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            }
            Ok(Event::Text(content)) => value.push_str(&content),
            Ok(Event::GeneralRef(entity)) => value.push(match &*entity {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                // `&#112;` is a letter like any other.
                _ => entity.resolve_char_ref().ok().flatten().unwrap_or('\''),
            }),
            Ok(Event::CData(content)) => value.push_str(&content),
            Ok(Event::End(tag)) => {
                open = open.saturating_sub(1);
                let span = Span::new(start.min(at), at);
                match tag.name().as_ref() {
                    "key" => key = value.trim().to_owned(),
                    "string" if in_array && element == "string" => {
                        words.push((Text::literal(value.as_str()), span))
                    }
                    "string" if key == "Program" => program = Some((Text::literal(value.as_str()), span)),
                    "array" => in_array = false,
                    "dict" => {
                        // The program that is named is run, whatever its arguments call it.
                        match (words.first_mut(), program.take()) {
                            (Some(first), Some((name, _))) => first.0 = name,
                            (None, Some(program)) => words.push(program),
                            _ => {}
                        }
                        collector.argv(&words);
                        words.clear();
                        program = None;
                    }
                    _ => {}
                }
                value.clear();
            }
            Ok(Event::Eof) => {
                if open > 0 {
                    // What was read of a file that is cut off still counts.
                    collector.argv(&words);
                    let end = Span::new(text.len(), text.len());
                    collector.problem(
                        ProblemKind::Syntax,
                        end,
                        "is not well-formed: it ends inside an element",
                    );
                }
                return;
            }
            Ok(_) => {}
            Err(error) => {
                collector.problem(
                    ProblemKind::Syntax,
                    Span::new(at, at),
                    format!("is not well-formed: {error}"),
                );
                return;
            }
        }
    }
}
