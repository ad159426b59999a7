//! Which names code assigns: what a loop may change, and what closures and functions change
//! in the scopes around them. And the channels on which a stop is told.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::syntax::named_children;

/// Signals by which the host says stop.
const STOP_SIGNALS: [&str; 6] =
    ["os.Interrupt", "os.Kill", "syscall.SIGINT", "syscall.SIGTERM", "unix.SIGINT", "unix.SIGTERM"];

/// The names that stand alone on the left of an assignment.
pub fn target_names<'s>(left: Node<'_>, text: &'s str, names: &mut Vec<&'s str>) {
    for target in named_children(left) {
        if target.kind() == "identifier" {
            names.extend(text.get(target.byte_range()));
        }
    }
}

fn assigned_here<'s>(node: Node<'_>, text: &'s str, names: &mut Vec<&'s str>) {
    if matches!(
        node.kind(),
        "assignment_statement" | "short_var_declaration" | "range_clause" | "receive_statement"
    ) && let Some(left) = node.child_by_field_name("left")
    {
        target_names(left, text, names);
    }
}

/// The names that a loop assigns, closures aside.
pub fn assigned_names<'s>(root: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        assigned_here(node, text, &mut names);
        stack.extend(named_children(node).into_iter().filter(|n| n.kind() != "func_literal"));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The names that some function or closure assigns without declaring them itself.
pub fn names_assigned_from_inside<'s>(root: Node<'_>, text: &'s str) -> FxHashSet<&'s str> {
    let mut codes: Vec<(FxHashSet<&'s str>, Vec<&'s str>)> = vec![Default::default()];
    let mut stack = vec![(root, 0usize)];
    while let Some((node, mut at)) = stack.pop() {
        let mut names = Vec::new();
        match node.kind() {
            "function_declaration" | "method_declaration" | "func_literal" => {
                codes.push(Default::default());
                at = codes.len() - 1;
            }
            "short_var_declaration" | "range_clause" | "receive_statement" => {
                let declares = node.kind() == "short_var_declaration"
                    || text.get(node.byte_range()).is_some_and(|t| t.contains(":="));
                if declares {
                    assigned_here(node, text, &mut names);
                    codes[at].0.extend(names.drain(..));
                }
            }
            "var_spec" | "parameter_declaration" | "variadic_parameter_declaration" | "const_spec" => {
                let mut cursor = node.walk();
                let declared = node.children_by_field_name("name", &mut cursor);
                codes[at].0.extend(declared.filter_map(|n| text.get(n.byte_range())));
            }
            "assignment_statement" if at > 0 => {
                assigned_here(node, text, &mut names);
                codes[at].1.extend(names);
            }
            _ => {}
        }
        stack.extend(named_children(node).into_iter().map(|n| (n, at)));
    }
    codes
        .iter()
        .flat_map(|(declared, assigned)| assigned.iter().filter(|n| !declared.contains(*n)).copied())
        .collect()
}

/// The texts of channels that tell of nothing but the host's stop: given to `signal.Notify` with
/// SIGINT, SIGTERM and their like alone, or the end of a context that `signal.NotifyContext` made.
pub fn stop_channels(root: Node<'_>, text: &str) -> FxHashSet<String> {
    let mut channels = FxHashSet::default();
    if memchr::memmem::find(text.as_bytes(), b".Notify").is_none() {
        return channels;
    }
    let slice = |node: Node<'_>| text.get(node.byte_range()).unwrap_or("");
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "call_expression" => {
                let function = node.child_by_field_name("function").map_or("", slice);
                let arguments = node.child_by_field_name("arguments").map(named_children).unwrap_or_default();
                if function == "signal.Notify"
                    && let Some((channel, signals)) = arguments.split_first()
                    && !signals.is_empty()
                    && signals.iter().all(|s| STOP_SIGNALS.contains(&slice(*s)))
                {
                    channels.insert(slice(*channel).to_owned());
                }
            }
            "short_var_declaration" | "assignment_statement" => {
                let right = node.child_by_field_name("right").map_or("", slice);
                let left = node.child_by_field_name("left").map(named_children).unwrap_or_default();
                if right.starts_with("signal.NotifyContext(")
                    && let Some(context) = left.first()
                {
                    channels.insert(format!("{}.Done()", slice(*context)));
                }
            }
            _ => {}
        }
        stack.extend(named_children(node));
    }
    channels
}
