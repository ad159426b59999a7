//! Which names a piece of code binds: Python decides from the whole body of a function
//! what is local to it.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::syntax::named_children;

/// The names that `node`'s code binds in its own scope, nested functions and classes aside.
/// In the order of the text, each once.
pub fn bound_names<'s>(node: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut stack = vec![node];
    let mut seen = FxHashSet::default();
    let mut add = |node: Node<'_>| {
        if let Some(name) = text.get(node.byte_range())
            && seen.insert(name)
        {
            names.push(name);
        }
    };
    while let Some(node) = stack.pop() {
        match node.kind() {
            "function_definition" | "class_definition" => {
                if let Some(name) = node.child_by_field_name("name") {
                    add(name);
                }
                continue;
            }
            "lambda" => continue,
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => {
                // Only an assignment expression inside leaks out.
                walrus_names(node, &mut add);
                continue;
            }
            "assignment" | "augmented_assignment" | "for_statement" => {
                if let Some(left) = node.child_by_field_name("left") {
                    target_names(left, &mut add);
                }
            }
            "named_expression" => {
                if let Some(name) = node.child_by_field_name("name") {
                    add(name);
                }
            }
            "as_pattern_target" => target_names(node, &mut add),
            "case_clause" => capture_names(node, &mut add),
            "import_statement" | "import_from_statement" => {
                import_names(node, &mut add);
                continue;
            }
            "delete_statement" => target_names(node, &mut add),
            _ => {}
        }
        stack.extend(named_children(node).into_iter().rev());
    }
    names
}

/// The names that `global` sends to the module anywhere in the file.
pub fn globals<'s>(root: Node<'_>, text: &'s str) -> Vec<&'s str> {
    if memchr::memmem::find(text.as_bytes(), b"global ").is_none() {
        return Vec::new();
    }
    let mut names = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if node.kind() == "global_statement" {
            names.extend(declared(node, text));
        } else {
            stack.extend(named_children(node));
        }
    }
    names
}

/// The names of `global` and `nonlocal` statements of one function's own code.
pub fn declarations<'s>(body: Node<'_>, text: &'s str) -> (Vec<&'s str>, Vec<&'s str>) {
    let (mut global, mut nonlocal) = (Vec::new(), Vec::new());
    let mut stack = vec![body];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "global_statement" => global.extend(declared(node, text)),
            "nonlocal_statement" => nonlocal.extend(declared(node, text)),
            "function_definition" | "class_definition" | "lambda" | "expression_statement" => {}
            _ => {
                stack.extend(named_children(node));
            }
        }
    }
    (global, nonlocal)
}

fn declared<'s>(node: Node<'_>, text: &'s str) -> Vec<&'s str> {
    named_children(node)
        .into_iter()
        .filter(|child| child.kind() == "identifier")
        .filter_map(|child| text.get(child.byte_range()))
        .collect()
}

/// Names in an assignment target: attributes and subscripts bind nothing.
fn target_names(target: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let mut stack = vec![target];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "identifier" => add(node),
            "attribute" | "subscript" | "call" => {}
            _ => {
                stack.extend(named_children(node).into_iter().rev());
            }
        }
    }
}

fn walrus_names(node: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.kind() == "named_expression"
            && let Some(name) = node.child_by_field_name("name")
        {
            add(name);
        }
        stack.extend(named_children(node).into_iter().rev());
    }
}

/// Capture names of a `case`: bare names in its patterns.
fn capture_names(case: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let mut stack: Vec<Node<'_>> =
        named_children(case).into_iter().filter(|child| child.kind() == "case_pattern").collect();
    while let Some(node) = stack.pop() {
        match node.kind() {
            "dotted_name" if node.named_child_count() == 1 => stack.extend(node.named_child(0)),
            "identifier" => add(node),
            "dotted_name" | "attribute" => {}
            "keyword_pattern" | "class_pattern" => {
                // The first name is the class or the keyword, no capture.
                stack.extend(named_children(node).into_iter().skip(1).rev());
            }
            _ => {
                stack.extend(named_children(node).into_iter().rev());
            }
        }
    }
}

fn import_names(node: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let module = node.child_by_field_name("module_name").map(|n| n.id());
    for child in named_children(node) {
        if Some(child.id()) == module {
            continue;
        }
        match child.kind() {
            "aliased_import" => {
                if let Some(alias) = child.child_by_field_name("alias") {
                    add(alias);
                }
            }
            "dotted_name" => {
                if let Some(first) = child.named_child(0) {
                    add(first);
                }
            }
            _ => {}
        }
    }
}
