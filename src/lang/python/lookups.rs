//! Lookups by name: which of them may look into a module that has primitives.

use std::cell::LazyCell;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::cut::Kind;
use super::hints::Hints;
use super::leaves::{Leaves, identifiers};
use super::slice::Seeds;

/// Bytes of a lookup's first argument that are looked at.
const MOST_ARGUMENT: usize = 200;

/// What lookups make count.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// Leaves that keep a module under another name.
    pub(super) wholes: Vec<usize>,
    /// The lookups that count, by leaf and offset in the text.
    pub(super) places: Vec<(usize, usize)>,
}

/// The lookups, given by leaf and offset, that a module with primitives may be the object of.
pub(super) fn counting(leaves: &Leaves<'_>, hints: &Hints, lookups: &[(usize, usize)]) -> Lookups {
    let mut counting = Lookups::default();
    if lookups.is_empty() {
        return counting;
    }
    // `m = os`: a lookup on `m` is a lookup on the module.
    let keeps = |at: &usize| {
        let value = leaves.text_of(*at).rsplit_once('=').map_or("", |(_, value)| value);
        leaves.all[*at].statement.kind == Kind::Simple && hints.is_module(value.trim())
    };
    counting.wholes = (0..leaves.all.len()).filter(keeps).collect();
    let modules = LazyCell::new(|| Modules::of(leaves, hints));
    let mut lines_seen: FxHashSet<(usize, *const u8)> = FxHashSet::default();
    for (at, offset) in lookups.iter().copied() {
        let seed = offset - leaves.all[at].statement.span.start;
        let rest = &leaves.text[offset..];
        let on_itself = ["getattr(self,", "getattr(cls,"].iter().any(|start| rest.starts_with(start));
        // `sys` itself stands in `sys.modules`.
        let in_sys = rest.starts_with("sys.modules");
        // What is imported by a name that is computed may be any module.
        let imports = rest.starts_with("import_module") || rest.starts_with("__import__");
        let counts = |name: &&str| {
            hints.is_module(name)
                && !(in_sys && *name == "sys")
                && (imports || modules.values.contains(*name))
        };
        // A leaf's names are at hand; where the modules stand in the whole text is found for few files.
        if on_itself
            || looks_up_a_literal(rest)
            || !leaves.names_of(at).iter().any(|name| hints.is_module(name))
            || !modules.within(leaves.all[at].span()).any(|name| counts(&name))
        {
            continue;
        }
        // What is true of a line is true once.
        let line = leaves.lines(at).map_or("", |lines| lines.line_at(seed));
        if !line.is_empty() && !lines_seen.insert((at, line.as_ptr())) {
            continue;
        }
        let seeds = Seeds { lines: vec![seed], names: Vec::new() };
        // What cannot be told apart by lines counts as a whole.
        let used = leaves.lines(at).map(|lines| lines.around(&seeds).used);
        if used.is_none_or(|used| used.iter().any(counts)) {
            counting.places.push((at, offset));
        }
    }
    counting
}

/// The modules with primitives, where a text names them in its code or in strings.
struct Modules<'t> {
    /// By place.
    named: Vec<(usize, &'t str)>,
    /// Those that it has the value of somewhere: it names them, and reads no member of them there (`os.path`
    /// hands on no `os`).
    values: FxHashSet<&'t str>,
}

impl<'t> Modules<'t> {
    fn of(leaves: &Leaves<'t>, hints: &Hints) -> Modules<'t> {
        let text = leaves.text;
        let mut named: Vec<(usize, &'t str)> = Vec::new();
        for module in hints.modules() {
            named.extend(leaves.mentions(module).iter().map(|at| (*at, &text[*at..*at + module.len()])));
        }
        named.sort_unstable();
        let is_value = |(at, name): &&(usize, &str)| {
            let (before, after) = (&text[..*at], &text[at + name.len()..]);
            let line = before[before.rfind('\n').map_or(0, |end| end + 1)..].trim_start();
            let member = after.strip_prefix('.').map(|rest| identifiers(rest).next().unwrap_or(""));
            // `os.sys`, `os.__dict__`.
            let is_read = member.is_some_and(|member| member != "__dict__" && !hints.is_module(member));
            !is_read && !before.ends_with('.') && !line.starts_with("import ") && !line.starts_with("from ")
        };
        let values = named.iter().filter(is_value).map(|(_, name)| *name).collect();
        Modules { named, values }
    }

    /// Those that are named in a part of the text.
    fn within(&self, part: Range<usize>) -> impl Iterator<Item = &'t str> {
        let first = self.named.partition_point(|(at, _)| *at < part.start);
        self.named[first..].iter().take_while(move |(at, _)| *at < part.end).map(|(_, name)| *name)
    }
}

/// `getattr(object, "name")`: a name that is written out is a word of its own.
fn looks_up_a_literal(text: &str) -> bool {
    let Some(arguments) = text.strip_prefix("getattr(") else { return false };
    let bytes = arguments.as_bytes();
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate().take(MOST_ARGUMENT) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return false,
            b')' | b']' | b'}' => depth -= 1,
            b'"' | b'\'' => return false,
            b',' if depth == 0 => {
                let name = arguments[at + 1..].trim_start();
                let Some(quoted) = name.strip_prefix(['"', '\'']) else { return false };
                let Some(end) = quoted.find(|c: char| !c.is_alphanumeric() && c != '_') else { return false };
                let rest = quoted[end..].strip_prefix(['"', '\'']).map(str::trim_start);
                return rest.is_some_and(|rest| rest.starts_with([')', ',']));
            }
            _ => {}
        }
    }
    false
}
