//! Walking tree-sitter trees without time or stack in proportion to width or depth.

use tree_sitter::Node;

/// The named children of a node, in order, comments aside. Linear in their number, where
/// indexed access is not.
pub fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

/// Every node below and including `root` for which `enter` says true is descended into;
/// in the order of the text.
pub fn walk<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if enter(node) {
            let mut children = named_children(node);
            children.reverse();
            stack.extend(children);
        }
    }
}
