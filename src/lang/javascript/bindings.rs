//! Which names a piece of code declares, and which it assigns: JavaScript decides from the
//! whole body of a function or block what belongs to it.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::syntax::named_children;

/// Whether a node is a function with code of its own.
pub fn is_function(kind: &str) -> bool {
    matches!(
        kind,
        "function_declaration"
            | "generator_function_declaration"
            | "function_expression"
            | "generator_function"
            | "arrow_function"
            | "method_definition"
    )
}

/// The names that `let`, `const`, `class` and `function` declare in a block's own statements.
pub fn lexical_names<'s>(block: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut statements: Vec<Node<'_>> = named_children(block);
    statements.reverse();
    while let Some(node) = statements.pop() {
        match node.kind() {
            "lexical_declaration" => declarator_names(node, text, &mut names),
            "class_declaration"
            | "abstract_class_declaration"
            | "function_declaration"
            | "generator_function_declaration"
            | "enum_declaration"
            | "internal_module" => {
                names.extend(node.child_by_field_name("name").and_then(|n| text.get(n.byte_range())));
            }
            "export_statement"
            | "ambient_declaration"
            | "labeled_statement"
            | "switch_case"
            | "switch_default" => {
                statements.extend(named_children(node).into_iter().rev());
            }
            "expression_statement" => {
                // TypeScript's `namespace X {}` is read as an expression.
                statements.extend(named_children(node).into_iter().filter(|n| n.kind() == "internal_module"));
            }
            _ => {}
        }
    }
    names
}

/// The names that `var` declares anywhere in a function's own code.
pub fn var_names<'s>(body: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut stack = vec![body];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "variable_declaration" => {
                declarator_names(node, text, &mut names);
            }
            "for_in_statement" => {
                if node.child_by_field_name("kind").is_some_and(|k| k.kind() == "var")
                    && let Some(left) = node.child_by_field_name("left")
                {
                    pattern_names(left, text, &mut names);
                }
            }
            _ => {}
        }
        if !is_expression(node.kind()) {
            stack.extend(
                named_children(node)
                    .into_iter()
                    .filter(|n| !is_function(n.kind()) && n.kind() != "class_body"),
            );
        }
    }
    names
}

/// Expressions hold no declarations, functions aside.
fn is_expression(kind: &str) -> bool {
    kind.ends_with("_expression") && kind != "function_expression" || matches!(kind, "object" | "array")
}

fn declarator_names<'s>(declaration: Node<'_>, text: &'s str, names: &mut Vec<&'s str>) {
    for declarator in named_children(declaration) {
        if let Some(name) = declarator.child_by_field_name("name") {
            pattern_names(name, text, names);
        }
    }
}

/// The names that a pattern binds; members and elements bind none.
pub fn pattern_names<'s>(pattern: Node<'_>, text: &'s str, names: &mut Vec<&'s str>) {
    let mut stack = vec![pattern];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                names.extend(text.get(node.byte_range()))
            }
            "pair_pattern" => stack.extend(node.child_by_field_name("value")),
            "assignment_pattern" | "object_assignment_pattern" => {
                stack.extend(node.child_by_field_name("left"));
            }
            "object_pattern"
            | "array_pattern"
            | "rest_pattern"
            | "array"
            | "object"
            | "spread_element"
            | "parenthesized_expression"
            | "non_null_expression"
            | "as_expression" => {
                stack.extend(named_children(node).into_iter().rev());
            }
            _ => {}
        }
    }
}

/// The names that a loop or branch assigns or declares with `var`, nested functions aside.
pub fn assigned_names<'s>(root: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        assigned_here(node, text, &mut names);
        if node.kind() == "variable_declaration" {
            declarator_names(node, text, &mut names);
        }
        stack.extend(named_children(node).into_iter().filter(|n| !is_function(n.kind())));
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn assigned_here<'s>(node: Node<'_>, text: &'s str, names: &mut Vec<&'s str>) {
    match node.kind() {
        "assignment_expression" | "augmented_assignment_expression" => {
            if let Some(left) = node.child_by_field_name("left") {
                pattern_names(left, text, names);
            }
        }
        "for_in_statement" if node.child_by_field_name("kind").is_none() => {
            if let Some(left) = node.child_by_field_name("left") {
                pattern_names(left, text, names);
            }
        }
        _ => {}
    }
}

/// The names that some function assigns without declaring them itself: they may change at any time.
pub fn names_assigned_from_inside<'s>(root: Node<'_>, text: &'s str) -> FxHashSet<&'s str> {
    #[derive(Default)]
    struct Code<'s> {
        declared: FxHashSet<&'s str>,
        assigned: Vec<&'s str>,
    }
    let mut codes: Vec<Code<'s>> = vec![Code::default()];
    let mut stack = vec![(root, 0usize)];
    while let Some((node, mut at)) = stack.pop() {
        let mut names = Vec::new();
        if is_function(node.kind()) {
            if let Some(name) =
                node.child_by_field_name("name").filter(|_| node.kind().ends_with("declaration"))
            {
                codes[at].declared.extend(text.get(name.byte_range()));
            }
            codes.push(Code::default());
            at = codes.len() - 1;
            if let Some(parameter) = node.child_by_field_name("parameter") {
                pattern_names(parameter, text, &mut names);
            }
            if let Some(parameters) = node.child_by_field_name("parameters") {
                for parameter in named_children(parameters) {
                    pattern_names(
                        parameter.child_by_field_name("pattern").unwrap_or(parameter),
                        text,
                        &mut names,
                    );
                }
            }
            codes[at].declared.extend(names.drain(..));
        }
        match node.kind() {
            "variable_declaration" | "lexical_declaration" => declarator_names(node, text, &mut names),
            "for_in_statement" if node.child_by_field_name("kind").is_some() => {
                if let Some(left) = node.child_by_field_name("left") {
                    pattern_names(left, text, &mut names);
                }
            }
            "catch_clause" => {
                if let Some(parameter) = node.child_by_field_name("parameter") {
                    pattern_names(parameter, text, &mut names);
                }
            }
            _ => {}
        }
        codes[at].declared.extend(names.drain(..));
        assigned_here(node, text, &mut names);
        if at > 0 {
            codes[at].assigned.extend(names);
        }
        stack.extend(named_children(node).into_iter().map(|n| (n, at)));
    }
    codes
        .iter()
        .flat_map(|code| code.assigned.iter().filter(|name| !code.declared.contains(*name)).copied())
        .collect()
}

/// The functions that the text uses as classes: `NAME.prototype`.
pub fn prototype_owners(text: &str) -> FxHashSet<&str> {
    let mut owners = FxHashSet::default();
    for at in memchr::memmem::find_iter(text.as_bytes(), b".prototype") {
        let before = &text[..at];
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
            .map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
        if start < at {
            owners.insert(&before[start..]);
        }
    }
    owners
}
