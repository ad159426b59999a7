//! Expressions as rows.

use ruff_python_ast::{
    ArgOrKeyword, Arguments, BoolOp, CmpOp, Comprehension, ConversionFlag, Expr, ExprBoolOp, ExprCompare,
    FStringPart, InterpolatedElement, InterpolatedStringElement, InterpolatedStringElements, Number,
    Operator, StringFlags, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::tree::{Field, Kind};
use super::Writer;

impl Writer<'_> {
    /// An expression that may be missing.
    pub(super) fn optional(&mut self, value: Option<&Expr>, field: Field) {
        if let Some(value) = value {
            self.expression(value, field);
        }
    }

    /// An expression in the part that it plays.
    pub(super) fn expression(&mut self, value: &Expr, field: Field) {
        let range = value.range();
        let other = Field::Other;
        match value {
            Expr::Name(_) => self.leaf(Kind::Identifier, field, range),
            Expr::BooleanLiteral(literal) => {
                self.leaf(if literal.value { Kind::True } else { Kind::False }, field, range);
            }
            Expr::NoneLiteral(_) => self.leaf(Kind::None, field, range),
            Expr::NumberLiteral(literal) => {
                let is_integer = matches!(literal.value, Number::Int(_));
                self.leaf(if is_integer { Kind::Integer } else { Kind::Other }, field, range);
            }
            Expr::EllipsisLiteral(_) | Expr::IpyEscapeCommand(_) => self.leaf(Kind::Other, field, range),
            Expr::StringLiteral(literal) => {
                let parts = literal.value.as_slice();
                self.strings(field, range, parts, |this, part, field| {
                    this.plain(part.range, part.flags, field);
                });
            }
            Expr::BytesLiteral(literal) => {
                let parts = literal.value.as_slice();
                self.strings(field, range, parts, |this, part, field| {
                    this.plain(part.range, part.flags, field);
                });
            }
            Expr::FString(formatted) => {
                let parts = formatted.value.as_slice();
                self.strings(field, range, parts, |this, part, field| match part {
                    FStringPart::Literal(part) => this.plain(part.range, part.flags, field),
                    FStringPart::FString(part) => this.filled(part.range, part.flags, &part.elements, field),
                });
            }
            Expr::TString(formatted) => {
                let parts = formatted.value.as_slice();
                self.strings(field, range, parts, |this, part, field| {
                    this.filled(part.range, part.flags, &part.elements, field);
                });
            }
            Expr::Attribute(attribute) => self.node(Kind::Attribute, field, range, |this| {
                this.expression(&attribute.value, Field::Object);
                this.leaf(Kind::Identifier, Field::Attribute, attribute.attr.range);
            }),
            Expr::Subscript(subscript) => self.node(Kind::Subscript, field, range, |this| {
                this.expression(&subscript.value, Field::Value);
                match &*subscript.slice {
                    Expr::Tuple(keys) if !keys.parenthesized => {
                        keys.elts.iter().for_each(|key| this.expression(key, Field::Subscript));
                    }
                    key => this.expression(key, Field::Subscript),
                }
            }),
            Expr::Slice(slice) => self.node(Kind::Slice, field, range, |this| {
                for bound in [&slice.lower, &slice.upper, &slice.step] {
                    this.optional(bound.as_deref(), other);
                }
            }),
            Expr::Call(call) => self.node(Kind::Call, field, range, |this| {
                this.expression(&call.func, Field::Function);
                match (&*call.arguments.args, &*call.arguments.keywords) {
                    // `any(x for x in y)`: the brackets of the call are the generator's.
                    ([Expr::Generator(only)], []) if !only.parenthesized => {
                        this.expression(&call.arguments.args[0], Field::Arguments);
                    }
                    _ => this.arguments(&call.arguments, Field::Arguments),
                }
            }),
            Expr::BinOp(operation) => self.node(Kind::Binary, field, range, |this| {
                let operator = match operation.op {
                    Operator::Add => Kind::Add,
                    Operator::Mod => Kind::Percent,
                    Operator::Div => Kind::Slash,
                    Operator::BitOr => Kind::Union,
                    _ => Kind::Other,
                };
                this.expression(&operation.left, Field::Left);
                this.word(operator, Field::Operator, range);
                this.expression(&operation.right, Field::Right);
            }),
            Expr::BoolOp(operation) => self.boolean(operation, operation.values.len(), field),
            Expr::UnaryOp(operation) => {
                let operator = match operation.op {
                    UnaryOp::Not => Kind::Not,
                    UnaryOp::USub => Kind::Subtract,
                    UnaryOp::UAdd => Kind::Add,
                    UnaryOp::Invert => Kind::Other,
                };
                let kind = if operator == Kind::Not { Kind::Not } else { Kind::Unary };
                self.node(kind, field, range, |this| {
                    if kind == Kind::Unary {
                        this.word(operator, Field::Operator, range);
                    }
                    this.expression(&operation.operand, Field::Argument);
                });
            }
            Expr::Compare(comparison) => self.comparison(comparison, field),
            Expr::If(conditional) => self.node(Kind::Conditional, field, range, |this| {
                this.expression(&conditional.body, other);
                this.expression(&conditional.test, other);
                this.expression(&conditional.orelse, other);
            }),
            Expr::Named(named) => self.node(Kind::NamedExpression, field, range, |this| {
                this.expression(&named.target, Field::Name);
                this.expression(&named.value, Field::Value);
            }),
            Expr::Lambda(lambda) => self.node(Kind::Lambda, field, range, |this| {
                if let Some(parameters) = &lambda.parameters {
                    this.parameters(parameters);
                }
                this.expression(&lambda.body, Field::Body);
            }),
            Expr::List(list) => self.items(Kind::List, field, range, &list.elts),
            Expr::Tuple(tuple) => self.items(Kind::Tuple, field, range, &tuple.elts),
            Expr::Set(set) => self.items(Kind::Set, field, range, &set.elts),
            Expr::Dict(dictionary) => self.node(Kind::Dictionary, field, range, |this| {
                for item in &dictionary.items {
                    match &item.key {
                        Some(key) => this.pair(key, &item.value, other),
                        None => this.splat(Kind::DictionarySplat, item.value.range(), &item.value, other),
                    }
                }
            }),
            Expr::ListComp(all) => self.node(Kind::ListComprehension, field, range, |this| {
                this.expression(&all.elt, Field::Body);
                this.generators(&all.generators);
            }),
            Expr::SetComp(all) => self.node(Kind::SetComprehension, field, range, |this| {
                this.expression(&all.elt, Field::Body);
                this.generators(&all.generators);
            }),
            Expr::DictComp(all) => self.node(Kind::DictionaryComprehension, field, range, |this| {
                match all.key.as_deref() {
                    Some(key) => this.pair(key, &all.value, Field::Body),
                    None => this.splat(Kind::DictionarySplat, all.value.range(), &all.value, Field::Body),
                }
                this.generators(&all.generators);
            }),
            Expr::Generator(all) => self.node(Kind::Generator, field, range, |this| {
                this.expression(&all.elt, Field::Body);
                this.generators(&all.generators);
            }),
            Expr::Await(awaited) => {
                self.node(Kind::Await, field, range, |this| this.expression(&awaited.value, other));
            }
            Expr::Yield(given) => {
                self.node(Kind::Yield, field, range, |this| this.optional(given.value.as_deref(), other));
            }
            Expr::YieldFrom(given) => self.node(Kind::Yield, field, range, |this| {
                this.word(Kind::From, other, range);
                this.expression(&given.value, other);
            }),
            Expr::Starred(starred) => self.splat(Kind::ListSplat, range, &starred.value, field),
        }
    }

    fn items(&mut self, kind: Kind, field: Field, range: TextRange, items: &[Expr]) {
        self.node(kind, field, range, |this| {
            items.iter().for_each(|item| this.expression(item, Field::Other));
        });
    }

    fn pair(&mut self, key: &Expr, value: &Expr, field: Field) {
        self.node(Kind::Pair, field, TextRange::new(key.start(), value.end()), |this| {
            this.expression(key, Field::Key);
            this.expression(value, Field::Value);
        });
    }

    fn splat(&mut self, kind: Kind, range: TextRange, value: &Expr, field: Field) {
        self.node(kind, field, range, |this| this.expression(value, Field::Other));
    }

    /// The arguments of a call, or the bases of a class, in the order of the text.
    pub(super) fn arguments(&mut self, arguments: &Arguments, field: Field) {
        self.node(Kind::Other, field, arguments.range, |this| {
            for argument in arguments.iter_source_order() {
                match argument {
                    ArgOrKeyword::Arg(value) => this.expression(value, Field::Other),
                    ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                        Some(name) => this.node(Kind::KeywordArgument, Field::Other, keyword.range, |this| {
                            this.leaf(Kind::Identifier, Field::Name, name.range);
                            this.expression(&keyword.value, Field::Value);
                        }),
                        None => {
                            this.splat(Kind::DictionarySplat, keyword.range, &keyword.value, Field::Other);
                        }
                    },
                }
            }
        });
    }

    /// The first `count` values of `a and b and c`: one operator each, the first two deepest.
    fn boolean(&mut self, operation: &ExprBoolOp, count: usize, field: Field) {
        let values = &operation.values[..count.min(operation.values.len())];
        let [before @ .., last] = values else { return };
        if before.is_empty() {
            return self.expression(last, field);
        }
        let start = operation.range.start();
        let operator = match operation.op {
            BoolOp::And => Kind::And,
            BoolOp::Or => Kind::Or,
        };
        let whole = if count == operation.values.len() { operation.range.end() } else { last.end() };
        self.node(Kind::Boolean, field, TextRange::new(start, whole), |this| {
            this.boolean(operation, count - 1, Field::Left);
            this.word(operator, Field::Operator, operation.range);
            this.expression(last, Field::Right);
        });
    }

    fn comparison(&mut self, comparison: &ExprCompare, field: Field) {
        self.node(Kind::Comparison, field, comparison.range, |this| {
            this.expression(&comparison.left, Field::Other);
            for (operator, operand) in comparison.ops.iter().zip(&comparison.comparators) {
                let operator = match operator {
                    CmpOp::Eq => Kind::EqualTo,
                    CmpOp::NotEq => Kind::NotEqualTo,
                    CmpOp::Lt => Kind::Less,
                    CmpOp::Gt => Kind::Greater,
                    CmpOp::Is => Kind::Is,
                    CmpOp::IsNot => Kind::IsNot,
                    CmpOp::In => Kind::In,
                    CmpOp::NotIn => Kind::NotIn,
                    CmpOp::LtE | CmpOp::GtE => Kind::Other,
                };
                this.word(operator, Field::Operators, comparison.range);
                this.expression(operand, Field::Other);
            }
        });
    }

    fn generators(&mut self, generators: &[Comprehension]) {
        for generator in generators {
            self.node(Kind::ForIn, Field::Other, generator.range, |this| {
                this.expression(&generator.target, Field::Left);
                this.expression(&generator.iter, Field::Right);
            });
            for condition in &generator.ifs {
                self.node(Kind::IfClause, Field::Other, condition.range(), |this| {
                    this.expression(condition, Field::Other);
                });
            }
        }
    }

    /// One string, or several beside each other.
    fn strings<T>(
        &mut self,
        field: Field,
        range: TextRange,
        parts: &[T],
        mut put: impl FnMut(&mut Self, &T, Field),
    ) {
        match parts {
            [only] => put(self, only, field),
            parts => self.node(Kind::ConcatenatedString, field, range, |this| {
                parts.iter().for_each(|part| put(this, part, Field::Other));
            }),
        }
    }

    /// A string without code in it.
    fn plain(&mut self, range: TextRange, flags: impl StringFlags, field: Field) {
        self.node(Kind::String, field, range, |this| {
            let (start, end) = this.quotes(range, flags);
            if start < end {
                this.leaf(Kind::StringContent, Field::Other, TextRange::new(start, end));
            }
        });
    }

    /// Puts a string's opening quotes down, and gives where its text begins and ends.
    fn quotes(&mut self, range: TextRange, flags: impl StringFlags) -> (TextSize, TextSize) {
        let start = range.start() + flags.opener_len();
        self.leaf(Kind::Other, Field::Other, TextRange::new(range.start(), start));
        (start, range.end() - flags.closer_len())
    }

    /// A formatted string.
    fn filled(
        &mut self,
        range: TextRange,
        flags: impl StringFlags,
        elements: &InterpolatedStringElements,
        field: Field,
    ) {
        self.node(Kind::String, field, range, |this| {
            this.quotes(range, flags);
            for element in elements {
                match element {
                    InterpolatedStringElement::Literal(literal) => {
                        this.leaf(Kind::StringContent, Field::Other, literal.range);
                    }
                    InterpolatedStringElement::Interpolation(element) => this.interpolation(element),
                }
            }
        });
    }

    fn interpolation(&mut self, element: &InterpolatedElement) {
        self.node(Kind::Interpolation, Field::Other, element.range, |this| {
            this.expression(&element.expression, Field::Expression);
            if element.conversion != ConversionFlag::None {
                // `!r` stands after the value.
                let rest = TextRange::new(element.expression.end(), element.end());
                let at = this.text(rest).find('!').unwrap_or(0) as u32;
                let start = rest.start() + TextSize::new(at);
                let end = (start + TextSize::new(2)).min(rest.end());
                this.leaf(Kind::Other, Field::TypeConversion, TextRange::new(start, end));
            }
            if let Some(specifier) = &element.format_spec {
                this.node(Kind::Other, Field::FormatSpecifier, specifier.range, |this| {
                    for nested in &specifier.elements {
                        if let InterpolatedStringElement::Interpolation(nested) = nested {
                            this.interpolation(nested);
                        }
                    }
                });
            }
        });
    }
}
