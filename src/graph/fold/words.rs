//! Words and their joins: what several alternatives come to, splitting and joining at white space.

use super::Text;
use crate::base::text::{Origin, Piece};

pub(in crate::graph) fn first(texts: Vec<Text>) -> Text {
    // Where a value can be several things, a literal one does not speak for the others.
    match texts.len() {
        1 => texts.into_iter().next().unwrap_or_default(),
        0 => Text::free(Origin::Unknown),
        _ => {
            let own =
                [Origin::OwnPid, Origin::OwnGroup, Origin::ChildPid, Origin::OwnScript, Origin::OwnProgram];
            texts
                .iter()
                .find(|t| t.origin().is_some_and(|o| own.contains(&o)))
                .cloned()
                .unwrap_or_else(|| Text::free(Origin::Unknown))
        }
    }
}

pub(in crate::graph) fn first_list(lists: Vec<Vec<Text>>) -> Vec<Text> {
    lists.into_iter().next().unwrap_or_default()
}

/// Any number of words, of which one is meant.
pub(in crate::graph) fn one_word(text: Text) -> Text {
    if text.is_rest() { Text::free(Origin::Unknown) } else { text }
}

pub(in crate::graph) fn map_literal(text: Text, map: impl Fn(&str) -> String) -> Text {
    match text.as_literal() {
        Some(literal) => Text::literal(map(literal)),
        None => text,
    }
}

/// The words of a list as one string. Each free word stays free.
pub(in crate::graph) fn join_words(words: &[Text], separator: &str) -> Text {
    let mut joined = Text::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            joined.push(Piece::Literal(separator.to_owned()));
        }
        for piece in word.pieces() {
            joined.push(match piece {
                Piece::Rest(origin) => Piece::Free(*origin),
                other => other.clone(),
            });
        }
    }
    joined
}

/// Splits a text at white space in its literal pieces; quotes group words.
pub(in crate::graph) fn split_words(text: &Text) -> Vec<Text> {
    let mut words = Vec::new();
    let mut word = Text::default();
    let mut open = false;
    let mut quote = None;
    for piece in text.pieces() {
        match piece {
            Piece::Literal(literal) => {
                for c in literal.chars() {
                    match quote {
                        Some(q) if c == q => quote = None,
                        None if c == '\'' || c == '"' => {
                            quote = Some(c);
                            open = true;
                        }
                        None if c.is_whitespace() => {
                            if open || !word.pieces().is_empty() {
                                words.push(std::mem::take(&mut word));
                            }
                            open = false;
                        }
                        _ => word.push(Piece::Literal(c.to_string())),
                    }
                }
            }
            free => word.push(free.clone()),
        }
    }
    if open || !word.pieces().is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_space_and_quotes_group() {
        let mut text = Text::literal("pkill -f 'a b' ");
        text.push(Piece::Free(Origin::Unknown));
        let words = split_words(&text);
        assert_eq!(words.len(), 4);
        assert_eq!(words[2].as_literal(), Some("a b"));
        assert_eq!(words[3].origin(), Some(Origin::Unknown));
    }
}
