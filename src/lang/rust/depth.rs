//! How deep a token stream would take the parser: syn recurses for each bracket, each prefix
//! operator and each right side, and drops its trees recursively. Counted over the tokens,
//! without recursion, before anything is parsed.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Most cost on one path; a bracket costs [`BRACKET`], a right-recursive token [`RIGHT`].
const MOST: u32 = 2000;
const BRACKET: u32 = 5;
const RIGHT: u32 = 2;
/// Most tokens in a row that may form one left-recursive tree.
const LONGEST_RUN: u32 = 12_000;

struct Level {
    tokens: proc_macro2::token_stream::IntoIter,
    right: u32,
    run: u32,
    /// A block ended here; whatever does not continue it starts anew.
    after_block: bool,
    before: char,
}

/// Whether parsing the tokens could need more stack than there is.
pub fn too_deep(tokens: TokenStream) -> bool {
    let level = |tokens: TokenStream| Level {
        tokens: tokens.into_iter(),
        right: 0,
        run: 0,
        after_block: false,
        before: ' ',
    };
    let mut levels = vec![level(tokens)];
    let mut cost = 0u32;
    while let Some(top) = levels.last_mut() {
        let Some(token) = top.tokens.next() else {
            cost = cost.saturating_sub(top.right + BRACKET);
            levels.pop();
            continue;
        };
        let mut weight = 0;
        let mut ends = false;
        let mut inner = None;
        let after_block = std::mem::take(&mut top.after_block);
        let before = std::mem::replace(&mut top.before, ' ');
        if let TokenTree::Punct(punct) = &token {
            top.before = punct.as_char();
        }
        match token {
            TokenTree::Group(group) => {
                top.after_block = group.delimiter() == Delimiter::Brace;
                inner = Some(group.stream());
            }
            TokenTree::Ident(ident) => {
                let right = ["return", "break", "yield", "else", "move", "async", "unsafe", "become", "box"];
                let continues = ident == "else" || ident == "as";
                if right.iter().any(|word| ident == word) {
                    weight = RIGHT;
                }
                ends = after_block && !continues;
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' | ',' => ends = true,
                // Closes what `<` opened, unless it is an arrow's head.
                '>' if before != '-' && before != '=' => {
                    let closed = top.right.min(RIGHT);
                    top.right -= closed;
                    cost = cost.saturating_sub(closed);
                }
                '=' if punct.spacing() == Spacing::Alone => weight = RIGHT,
                // `#![…]`: an attribute, or a line of documentation.
                '!' if before == '#' => {}
                '!' | '&' | '*' | '-' | '<' => weight = RIGHT,
                '|' => weight = 1,
                '#' => ends = after_block,
                _ => {}
            },
            TokenTree::Literal(_) => ends = after_block,
        }
        if ends {
            cost = cost.saturating_sub(top.right);
            top.right = 0;
            top.run = 0;
        }
        top.run += 1;
        top.right += weight;
        cost += weight;
        if cost > MOST || top.run > LONGEST_RUN {
            return true;
        }
        if let Some(stream) = inner {
            cost += BRACKET;
            levels.push(level(stream));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(text: &str) -> bool {
        too_deep(text.parse().unwrap())
    }

    #[test]
    fn brackets_prefixes_and_chains_are_counted() {
        assert!(deep(&format!("{}1{}", "(".repeat(2000), ")".repeat(2000))));
        assert!(deep(&"!".repeat(5000)));
        assert!(deep(&"return ".repeat(5000)));
        assert!(deep(&".y()".repeat(20_000)));
        assert!(deep(&"if a {} else ".repeat(3000)));
    }

    #[test]
    fn many_statements_items_and_arms_are_not_deep() {
        assert!(!deep(&"fn f(a: &A<B>) -> C { a.b(-1, !x); } ".repeat(5000)));
        assert!(!deep(&"A => &b, ".repeat(9000)));
        assert!(!deep(&"//! Documentation.\n".repeat(3500)));
        assert!(!deep(&format!("{}1{}", "(".repeat(100), ")".repeat(100))));
    }
}
