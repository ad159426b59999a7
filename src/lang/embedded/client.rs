//! Configurations of MCP clients, agents' settings with hooks, and VS Code tasks.
//!
//! Wherever a mapping has a `command`, that is run: with `args` beside it as an argument
//! list, else by a shell. Every other key (permissions, environment, labels) is no command.

use crate::lang::collect::Collector;

use super::data::{Data, Id};
use super::values;

/// Server entries, hooks and status lines.
pub(super) fn servers(collector: &mut Collector<'_>, data: &Data) {
    for id in data.maps() {
        let Some(mut command) = own(data, id, "command") else { continue };
        let mut args = own(data, id, "args").map(|a| data.items(a)).unwrap_or(&[]);
        // `{"command": {"path": …, "args": […]}}`.
        if let Some(path) = own(data, command, "path") {
            args = own(data, command, "args").map(|a| data.items(a)).unwrap_or(&[]);
            command = path;
        }
        if args.is_empty() {
            values::command(collector, data, command);
        } else {
            let words = values::words(collector, data, &[&[command], args].concat());
            // The place is the command's: that is the line to mend.
            let place = words.first().map(|(_, span)| *span).unwrap_or_default();
            let words: Vec<_> = words.into_iter().map(|(text, _)| (text, place)).collect();
            collector.argv(&words);
        }
    }
}

/// Tasks: a `shell` task's command line, a `process` task's argument list.
pub(super) fn tasks(collector: &mut Collector<'_>, data: &Data) {
    for id in data.maps() {
        let Some(command) = own(data, id, "command") else { continue };
        // `{"value": …, "quoting": …}`.
        let value = |id: Id| own(data, id, "value").unwrap_or(id);
        let command = value(command);
        let args: Vec<Id> =
            own(data, id, "args").map(|a| data.items(a)).unwrap_or(&[]).iter().map(|&a| value(a)).collect();
        // The arguments follow the command's words, whether a shell puts them together or not.
        let mut words = values::split(collector, data, command);
        words.extend(values::words(collector, data, &args));
        if args.is_empty() || !collector.argv(&words) {
            values::shell(collector, data, command);
        }
    }
}

/// A mapping's own value of a key.
fn own(data: &Data, id: Id, key: &str) -> Option<Id> {
    if data.is_map(id) { data.get(id, key) } else { None }
}
