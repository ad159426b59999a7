//! Macro calls: their tokens read again as expressions. A format macro is a string with free
//! parts; of any other macro what can be read as an expression or a statement is.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Expr as Syntax;
use syn::parse::{Parse, ParseStream, Parser as _};

use super::lower::Lowering;
use super::path::{Wanted, outline};
use crate::base::ir::{CallKind, Expr, ExprId, Spread};
use crate::base::span::Span;

/// Macros whose first argument is a format string and whose value is the text.
const FORMAT: [&str; 3] = ["format", "format_args", "concat"];

/// Macros that make a list of their arguments.
const LISTS: [&str; 3] = ["vec", "smallvec", "array"];

/// Groups nested deeper than this inside one macro are not read.
const DEPTH: usize = 24;

impl Lowering<'_> {
    /// A macro call, as an expression.
    pub(super) fn macro_call(&mut self, mac: syn::Macro) -> ExprId {
        let close = match &mac.delimiter {
            syn::MacroDelimiter::Paren(d) => d.span.close(),
            syn::MacroDelimiter::Brace(d) => d.span.close(),
            syn::MacroDelimiter::Bracket(d) => d.span.close(),
        };
        let path_span = outline(self, &mac.path);
        let span = Span::new(path_span.start as usize, self.place(close).end as usize);
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if name == "macro_rules" {
            return self.unknown(span);
        }
        let args = self.macro_arguments(mac.tokens, 0);
        if FORMAT.contains(&name.as_str()) {
            return self.format(&name, args, span);
        }
        if LISTS.contains(&name.as_str()) {
            let items = args.into_iter().map(|a| (a, Spread::No)).collect();
            return self.builder.expr(Expr::Seq(items), span);
        }
        let known = mac.path.get_ident().is_none() || self.scopes.value(self.scope, &name).is_some();
        let from_glob = !self.scopes.globs(self.scope).1.is_empty() && name == "cmd";
        if known || from_glob {
            // A macro of a crate: called by its path with a `!`.
            let path = self.path(&mac.path, Wanted::Value);
            let callee = self.builder.expr(Expr::Attr { base: path, name: "::!".to_owned() }, path_span);
            return self.call_of(callee, args, CallKind::Plain, span);
        }
        if matches!(name.as_str(), "dbg" | "try" | "ready") {
            return args.last().copied().unwrap_or_else(|| self.unknown(span));
        }
        self.unknown(span)
    }

    /// The expressions between a macro's brackets.
    fn macro_arguments(&mut self, tokens: TokenStream, depth: usize) -> Vec<ExprId> {
        if tokens.is_empty() || depth > DEPTH {
            return Vec::new();
        }
        let mut values = Vec::new();
        match pieces.parse2(tokens.clone()) {
            Ok(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Expression(Syntax::Assign(named)) => {
                            // `name = value`, a named argument: the name binds nothing.
                            values.push(self.expression(*named.right));
                        }
                        Piece::Expression(expr) => values.push(self.expression(expr)),
                        Piece::Statements(block) => values.push(self.block(block)),
                    }
                }
            }
            Err(_) => {
                for part in split(tokens) {
                    values.extend(self.macro_part(part, depth));
                }
            }
        }
        values
    }

    /// A piece between separators: an expression, else what its groups hold.
    fn macro_part(&mut self, tokens: Vec<TokenTree>, depth: usize) -> Vec<ExprId> {
        let stream: TokenStream = tokens.iter().cloned().collect();
        if let Ok(expr) = syn::parse2::<Syntax>(stream) {
            return vec![self.expression(expr)];
        }
        let mut values = Vec::new();
        for token in tokens {
            if let TokenTree::Group(group) = token {
                if group.delimiter() == Delimiter::Brace
                    && let Ok(statements) = syn::Block::parse_within.parse2(group.stream())
                {
                    let outer = self.scope;
                    self.scope = self.scopes.open(outer);
                    values.extend(self.statements(statements));
                    self.scope = outer;
                } else {
                    values.extend(self.macro_arguments(group.stream(), depth + 1));
                }
            }
        }
        values
    }

    /// A format string's pieces.
    fn format(&mut self, name: &str, args: Vec<ExprId>, span: Span) -> ExprId {
        if name == "concat" {
            return self.builder.expr(Expr::Template(args), span);
        }
        let text =
            args.first().and_then(|first| match &self.builder.program.exprs.get(*first as usize)?.expr {
                Expr::Str(text) => Some(text.clone()),
                _ => None,
            });
        let Some(text) = text else { return self.unknown(span) };
        let parts = self.template(&text, args.get(1..).unwrap_or(&[]), span);
        self.builder.expr(Expr::Template(parts), span)
    }

    /// The parts of a text with `{}`, `{0}` and `{name}` in it.
    pub(super) fn template(&mut self, text: &str, args: &[ExprId], span: Span) -> Vec<ExprId> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut next = 0usize;
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let tail = &rest[at..];
            if tail.starts_with("{{") || tail.starts_with("}}") {
                literal.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let Some(end) = tail.find('}').filter(|_| tail.starts_with('{')) else {
                rest = &tail[1..];
                continue;
            };
            let field = tail[1..end].split(':').next().unwrap_or("").trim();
            let value = if field.is_empty() {
                next += 1;
                args.get(next - 1).copied()
            } else if let Ok(position) = field.parse::<usize>() {
                args.get(position).copied()
            } else {
                self.scopes.value(self.scope, field).map(|cell| self.builder.expr(Expr::Cell(cell), span))
            };
            if !literal.is_empty() {
                let text = std::mem::take(&mut literal);
                parts.push(self.builder.expr(Expr::Str(text), span));
            }
            parts.push(value.unwrap_or_else(|| self.unknown(span)));
            rest = &tail[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(self.builder.expr(Expr::Str(literal), span));
        }
        parts
    }
}

/// What stands between a macro's commas.
enum Piece {
    Expression(Syntax),
    Statements(syn::Block),
}

/// Comma-separated expressions, or statements.
fn pieces(input: ParseStream<'_>) -> syn::Result<Vec<Piece>> {
    let ahead = input.fork();
    if let Ok(list) = ahead.call(syn::punctuated::Punctuated::<Element, syn::Token![,]>::parse_terminated) {
        syn::parse::discouraged::Speculative::advance_to(input, &ahead);
        return Ok(list.into_iter().map(|e| Piece::Expression(e.0)).collect());
    }
    let stmts = input.call(syn::Block::parse_within)?;
    Ok(vec![Piece::Statements(syn::Block { brace_token: syn::token::Brace::default(), stmts })])
}

/// An element of `vec![a; n]` ends at `;` too: that form is read as statements.
struct Element(Syntax);

impl Parse for Element {
    fn parse(input: ParseStream<'_>) -> syn::Result<Element> {
        input.parse().map(Element)
    }
}

/// Splits tokens at commas, semicolons, arrows and assignments.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    let mut iter = tokens.into_iter().peekable();
    while let Some(token) = iter.next() {
        let separates = match &token {
            TokenTree::Punct(p) => match p.as_char() {
                ',' | ';' => true,
                '=' => {
                    let arrow = matches!(iter.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '>');
                    if arrow {
                        iter.next();
                    }
                    arrow || p.spacing() == proc_macro2::Spacing::Alone
                }
                _ => false,
            },
            _ => false,
        };
        if separates {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts.retain(|p| !p.is_empty());
    parts
}
