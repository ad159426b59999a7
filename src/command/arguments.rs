//! A command's words taken apart into options, operands and a signal, as its rule says.

use crate::data::commands::OptionStyle;

use super::word::Word;

/// The signal that a command sends, as far as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signal {
    /// None is named: the command's own default.
    #[default]
    Default,
    /// Signal 0: a probe.
    Probe,
    /// Another one, or one that is not known.
    Named,
}

/// How arguments are to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'a> {
    /// How options are written.
    pub style: OptionStyle,
    /// Options that take a value.
    pub value_options: &'a [String],
    /// Options end at operand number so many.
    pub options_end: Option<usize>,
    /// `-9` and `-KILL` name a signal.
    pub dash_signals: bool,
    /// Options whose value is a signal.
    pub signal_options: &'a [String],
}

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name with its dashes, in the spelling of the rule's style.
    pub name: String,
    /// Its value, if it takes one.
    pub value: Option<Word>,
}

/// Arguments, taken apart.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Options in order.
    pub options: Vec<Given>,
    /// Operands in order.
    pub operands: Vec<Word>,
    /// Index of each operand among the words.
    pub places: Vec<usize>,
    /// The signal.
    pub signal: Signal,
}

impl Arguments {
    /// Whether one of these options is given.
    pub fn has(&self, names: &[String]) -> bool {
        self.options.iter().any(|o| names.iter().any(|n| same(n, &o.name)))
    }

    /// Whether this option is given.
    pub fn has_one(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.name == name)
    }

    /// The values of these options.
    pub fn values<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = (&'a str, &'a Word)> {
        self.options.iter().filter_map(move |o| {
            let value = o.value.as_ref()?;
            names.iter().any(|n| same(n, &o.name)).then_some((o.name.as_str(), value))
        })
    }
}

fn same(rule: &str, given: &str) -> bool {
    rule == given
        || (given.starts_with(['/', '-']) && rule.starts_with('/') && rule.eq_ignore_ascii_case(given))
}

/// Takes words (without the command's name) apart.
pub fn read(words: &[Word], reading: &Reading<'_>) -> Arguments {
    let mut out = Arguments::default();
    let mut only_operands = false;
    let mut i = 0;
    while let Some(word) = words.get(i) {
        let here = i;
        i += 1;
        if reading.options_end.is_some_and(|n| out.operands.len() >= n) {
            only_operands = true;
        }
        let text = word.leading();
        let optional = !only_operands && is_option(&text, word, reading.style);
        if !optional {
            out.operands.push(word.clone());
            out.places.push(here);
            continue;
        }
        if text == "--" && !word.is_free() && reading.style == OptionStyle::Gnu {
            only_operands = true;
            continue;
        }
        match reading.style {
            OptionStyle::Gnu => gnu(&mut out, word, &text, words, &mut i, reading),
            OptionStyle::Slash => slash(&mut out, word, words, &mut i, reading),
            OptionStyle::Powershell => powershell(&mut out, word, words, &mut i, reading),
        }
    }
    for given in &out.options {
        let Some(value) = &given.value else { continue };
        if reading.signal_options.contains(&given.name) {
            let zero = value.text().is_some_and(|t| is_zero(&t));
            out.signal = if zero { Signal::Probe } else { Signal::Named };
        }
    }
    out
}

fn is_option(text: &str, word: &Word, style: OptionStyle) -> bool {
    match style {
        OptionStyle::Gnu | OptionStyle::Powershell => {
            text.len() > 1 && text.starts_with('-') || (text == "-" && word.is_free())
        }
        // A path is no option: `/F` has one slash and few letters.
        OptionStyle::Slash => {
            let name = text.trim_start_matches('/');
            (text.starts_with('/') && !name.is_empty() && !name.contains('/'))
                || (text.len() > 1 && text.starts_with('-'))
        }
    }
}

fn is_zero(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '0') || text.eq_ignore_ascii_case("EXIT")
}

fn gnu(out: &mut Arguments, word: &Word, text: &str, words: &[Word], i: &mut usize, reading: &Reading<'_>) {
    let takes_value = |name: &str| reading.value_options.iter().any(|n| n == name);
    if reading.dash_signals && !text.starts_with("--") {
        let earlier = out.signal != Signal::Default || !out.operands.is_empty();
        let body = text.get(1..).unwrap_or("");
        if body.chars().all(|c| c.is_ascii_digit()) && !body.is_empty() && !word.is_free() {
            if earlier {
                // `kill -9 -1`: after a signal, a negative number is a process group.
                out.operands.push(word.clone());
                out.places.push(*i - 1);
            } else {
                out.signal = if is_zero(body) { Signal::Probe } else { Signal::Named };
            }
            return;
        }
        if earlier && word.is_free() && body.is_empty() {
            // `kill -TERM -$group`.
            out.operands.push(word.clone());
            out.places.push(*i - 1);
            return;
        }
        if word.is_free() && out.signal == Signal::Default && out.operands.is_empty() && body.is_empty() {
            out.signal = Signal::Named;
            return;
        }
        if !word.is_free() && is_signal_name(body) && !takes_value(text) {
            out.signal = Signal::Named;
            return;
        }
        if let (Some(first), rest) = (body.chars().next(), body.get(1..).unwrap_or(""))
            && first.is_ascii_digit()
            && !rest.is_empty()
            && !word.is_free()
        {
            // `-9f`: not a bundle that every version reads; both readings are kept.
            out.signal = Signal::Named;
            for c in body.chars().filter(|c| !c.is_ascii_digit()) {
                out.options.push(Given { name: format!("-{c}"), value: None });
            }
            return;
        }
    }
    if let Some(long) = text.strip_prefix("--") {
        match long.split_once('=') {
            Some((name, _)) => {
                let value = after(word, name.len() + 3);
                out.options.push(Given { name: format!("--{name}"), value: Some(value) });
            }
            None => {
                let value = if takes_value(text) { next(words, i) } else { None };
                out.options.push(Given { name: text.to_owned(), value });
            }
        }
        return;
    }
    if takes_value(text) {
        let value = next(words, i);
        out.options.push(Given { name: text.to_owned(), value });
        return;
    }
    if text.len() > 2 {
        // `-debug`, `-address=x`: options of one dash and a whole name.
        out.options.push(Given { name: text.split('=').next().unwrap_or(text).to_owned(), value: None });
    }
    for (at, c) in text.char_indices().skip(1) {
        let name = format!("-{c}");
        let end = at + c.len_utf8();
        if takes_value(&name) {
            let rest = after(word, end);
            let value = if rest.is_empty() && !rest.is_free() { next(words, i) } else { Some(rest) };
            out.options.push(Given { name, value });
            return;
        }
        out.options.push(Given { name, value: None });
    }
}

fn slash(out: &mut Arguments, word: &Word, words: &[Word], i: &mut usize, reading: &Reading<'_>) {
    let text = word.leading();
    let bare = format!("/{}", text.trim_start_matches(['/', '-']));
    let (name, inline) = match bare.split_once(':') {
        Some((name, _)) => (name.to_owned(), true),
        None => (bare, false),
    };
    let takes = reading.value_options.iter().any(|n| n.eq_ignore_ascii_case(&name));
    let value = if takes && !inline { next(words, i) } else { None };
    out.options.push(Given { name: name.to_ascii_uppercase(), value });
}

fn powershell(out: &mut Arguments, word: &Word, words: &[Word], i: &mut usize, reading: &Reading<'_>) {
    let text = word.leading().to_ascii_lowercase();
    let full = reading.value_options.iter().find(|n| {
        let known = n.to_ascii_lowercase();
        known == text || (text.len() > 1 && known.starts_with(&text))
    });
    match full {
        Some(name) => {
            let value = next(words, i);
            out.options.push(Given { name: name.clone(), value });
        }
        None => out.options.push(Given { name: text, value: None }),
    }
}

fn next(words: &[Word], i: &mut usize) -> Option<Word> {
    let word = words.get(*i)?;
    *i += 1;
    Some(word.clone())
}

/// The word without the first `bytes` bytes of its leading literal.
fn after(word: &Word, bytes: usize) -> Word {
    let mut left = bytes;
    let mut out = Word { parts: Vec::new(), span: word.span };
    for piece in &word.parts {
        match &piece.part {
            super::word::Part::Literal(text) if left > 0 => {
                if text.len() > left {
                    let rest = text.get(left..).unwrap_or("").to_owned();
                    out.push(
                        super::word::Part::Literal(rest),
                        piece.at.saturating_add(u32::try_from(left).unwrap_or(0)),
                    );
                    left = 0;
                } else {
                    left -= text.len();
                }
            }
            part => {
                left = 0;
                out.push(part.clone(), piece.at);
            }
        }
    }
    out
}

/// Whether that is a signal's name, with or without `SIG`.
fn is_signal_name(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "IOT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "POLL", "PWR", "SYS", "EMT", "INFO",
    ];
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    NAMES.contains(&name) || name.starts_with("RTM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::span::Span;

    fn words(text: &str) -> Vec<Word> {
        text.split(' ').map(|w| Word::literal(w, Span::default())).collect()
    }

    fn kill(text: &str) -> Arguments {
        let values: Vec<String> = ["-s", "-n", "--signal"].map(String::from).to_vec();
        let reading = Reading {
            value_options: &values,
            signal_options: &values,
            dash_signals: true,
            ..Reading::default()
        };
        read(&words(text), &reading)
    }

    #[test]
    fn signals_are_told_from_groups() {
        assert_eq!(kill("-0 5").signal, Signal::Probe);
        assert_eq!(kill("-s 0 5").signal, Signal::Probe);
        assert_eq!(kill("--signal=0 5").signal, Signal::Probe);
        assert_eq!(kill("-SIGKILL 5").signal, Signal::Named);
        let group = kill("-9 -1");
        assert_eq!(group.operands.len(), 1);
        assert_eq!(kill("-- -42").operands[0].text().unwrap(), "-42");
        assert_eq!(kill("5 -0").operands.len(), 2);
    }

    #[test]
    fn bundles_and_values() {
        let values = vec!["-u".to_owned()];
        let reading = Reading { value_options: &values, ..Reading::default() };
        let read = |text: &str| super::read(&words(text), &reading);
        assert_eq!(read("-nu root x").operands.len(), 1);
        assert_eq!(read("-uroot x").operands.len(), 1);
        assert!(read("-rf x").has(&["-f".to_owned()]));
        assert!(read("--reload").has(&["--reload".to_owned()]));
    }

    #[test]
    fn slashes_in_both_shells() {
        let values = vec!["/IM".to_owned()];
        let reading = Reading { style: OptionStyle::Slash, value_options: &values, ..Reading::default() };
        for text in ["/F /IM node.exe", "//F //im node.exe", "-f -im node.exe"] {
            let arguments = read(&words(text), &reading);
            assert_eq!(arguments.values(&values).next().unwrap().1.text().unwrap(), "node.exe", "{text}");
        }
    }
}
