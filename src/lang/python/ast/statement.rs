//! Statements, definitions and patterns as rows.

use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ModModule, Operator, ParameterWithDefault, Parameters, Pattern, Stmt,
    StmtClassDef, StmtFunctionDef, StmtImportFrom, StmtTry, WithItem,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::tree::{Field, Kind};
use super::{Writer, over};

impl Writer<'_> {
    /// The whole text.
    pub(super) fn module(&mut self, module: &ModModule) {
        let all = TextRange::up_to(TextSize::of(self.code));
        self.node(Kind::Module, Field::Other, all, |this| this.statements(&module.body));
    }

    fn statements(&mut self, all: &[Stmt]) {
        all.iter().for_each(|statement| self.statement(statement));
    }

    fn block(&mut self, field: Field, all: &[Stmt]) {
        if let Some(range) = over(all) {
            self.node(Kind::Block, field, range, |this| this.statements(all));
        }
    }

    /// `else:` and `finally:` with their blocks.
    fn arm(&mut self, kind: Kind, field: Field, all: &[Stmt]) {
        if let Some(range) = over(all) {
            self.node(kind, field, range, |this| this.block(Field::Body, all));
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let range = statement.range();
        let other = Field::Other;
        match statement {
            Stmt::FunctionDef(function) => self.decorated(statement, |this, range, field| {
                this.function(function, range, field);
            }),
            Stmt::ClassDef(class) => self.decorated(statement, |this, range, field| {
                this.class(class, range, field);
            }),
            Stmt::Expr(statement) => {
                self.node(Kind::ExpressionStatement, other, range, |this| this.bare(&statement.value));
            }
            Stmt::Assign(statement) => self.node(Kind::ExpressionStatement, other, range, |this| {
                this.assignments(&statement.targets, &statement.value, other, range.end());
            }),
            Stmt::AnnAssign(statement) => self.node(Kind::ExpressionStatement, other, range, |this| {
                this.node(Kind::Assignment, other, range, |this| {
                    this.expression(&statement.target, Field::Left);
                    this.leaf(Kind::Type, Field::Type, statement.annotation.range());
                    this.optional(statement.value.as_deref(), Field::Right);
                });
            }),
            Stmt::AugAssign(statement) => self.node(Kind::ExpressionStatement, other, range, |this| {
                this.node(Kind::Augmented, other, range, |this| {
                    let operator = match statement.op {
                        Operator::Add => Kind::AddAssign,
                        Operator::Mod => Kind::PercentAssign,
                        Operator::Div => Kind::SlashAssign,
                        Operator::BitOr => Kind::UnionAssign,
                        _ => Kind::Other,
                    };
                    this.expression(&statement.target, Field::Left);
                    this.word(operator, Field::Operator, range);
                    this.expression(&statement.value, Field::Right);
                });
            }),
            Stmt::Return(statement) => {
                self.node(Kind::Return, other, range, |this| {
                    this.optional(statement.value.as_deref(), other)
                });
            }
            Stmt::Delete(statement) => self.node(Kind::Delete, other, range, |this| {
                statement.targets.iter().for_each(|target| this.expression(target, other));
            }),
            Stmt::For(statement) => self.node(Kind::For, other, range, |this| {
                this.expression(&statement.target, Field::Left);
                this.expression(&statement.iter, Field::Right);
                this.block(Field::Body, &statement.body);
                this.arm(Kind::Else, Field::Alternative, &statement.orelse);
            }),
            Stmt::While(statement) => self.node(Kind::While, other, range, |this| {
                this.expression(&statement.test, Field::Condition);
                this.block(Field::Body, &statement.body);
                this.arm(Kind::Else, Field::Alternative, &statement.orelse);
            }),
            Stmt::If(statement) => self.node(Kind::If, other, range, |this| {
                this.expression(&statement.test, Field::Condition);
                this.block(Field::Consequence, &statement.body);
                for clause in &statement.elif_else_clauses {
                    match &clause.test {
                        Some(test) => this.node(Kind::Elif, Field::Alternative, clause.range, |this| {
                            this.expression(test, Field::Condition);
                            this.block(Field::Consequence, &clause.body);
                        }),
                        None => this.arm(Kind::Else, Field::Alternative, &clause.body),
                    }
                }
            }),
            Stmt::With(statement) => self.node(Kind::With, other, range, |this| {
                this.is_async(statement.is_async, range);
                if let Some(items) = over(&statement.items) {
                    this.node(Kind::WithClause, other, items, |this| {
                        statement.items.iter().for_each(|item| this.with_item(item));
                    });
                }
                this.block(Field::Body, &statement.body);
            }),
            Stmt::Match(statement) => self.node(Kind::Match, other, range, |this| {
                this.expression(&statement.subject, Field::Subject);
                let Some(cases) = over(&statement.cases) else { return };
                this.node(Kind::Block, Field::Body, cases, |this| {
                    for case in &statement.cases {
                        this.node(Kind::CaseClause, other, case.range, |this| {
                            let pattern = case.pattern.range();
                            this.node(Kind::CasePattern, other, pattern, |this| this.captures(&case.pattern));
                            if let Some(guard) = &case.guard {
                                this.node(Kind::IfClause, Field::Guard, guard.range(), |this| {
                                    this.expression(guard, other);
                                });
                            }
                            this.block(Field::Consequence, &case.body);
                        });
                    }
                });
            }),
            Stmt::Raise(statement) => self.node(Kind::Raise, other, range, |this| {
                this.optional(statement.exc.as_deref(), other);
                this.optional(statement.cause.as_deref(), other);
            }),
            Stmt::Try(statement) => self.node(Kind::Try, other, range, |this| this.tried(statement)),
            Stmt::Assert(statement) => self.node(Kind::Assert, other, range, |this| {
                this.expression(&statement.test, other);
                this.optional(statement.msg.as_deref(), other);
            }),
            Stmt::Import(statement) => self.node(Kind::Import, other, range, |this| {
                statement.names.iter().for_each(|name| this.imported(name));
            }),
            Stmt::ImportFrom(statement) => self.import_from(statement),
            Stmt::Global(statement) => self.node(Kind::Global, other, range, |this| {
                statement.names.iter().for_each(|name| this.leaf(Kind::Identifier, other, name.range));
            }),
            Stmt::Nonlocal(statement) => self.node(Kind::Nonlocal, other, range, |this| {
                statement.names.iter().for_each(|name| this.leaf(Kind::Identifier, other, name.range));
            }),
            Stmt::TypeAlias(_) => self.leaf(Kind::TypeAlias, other, range),
            Stmt::Break(_) => self.leaf(Kind::Break, other, range),
            Stmt::Continue(_) => self.leaf(Kind::Continue, other, range),
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => self.leaf(Kind::Pass, other, range),
        }
    }

    /// An expression statement's values: `a, b` are two.
    fn bare(&mut self, value: &Expr) {
        match value {
            Expr::Tuple(tuple) if !tuple.parenthesized => {
                tuple.elts.iter().for_each(|item| self.expression(item, Field::Other));
            }
            value => self.expression(value, Field::Other),
        }
    }

    /// `a = b = value` is an assignment of an assignment.
    fn assignments(&mut self, targets: &[Expr], value: &Expr, field: Field, end: TextSize) {
        let Some((first, rest)) = targets.split_first() else { return self.expression(value, field) };
        let range = TextRange::new(first.start(), end.max(first.end()));
        self.node(Kind::Assignment, field, range, |this| {
            this.expression(first, Field::Left);
            this.assignments(rest, value, Field::Right, end);
        });
    }

    fn is_async(&mut self, is_async: bool, range: TextRange) {
        if is_async {
            self.word(Kind::Async, Field::Other, range);
        }
    }

    /// A definition; with decorators it is the definition of a node around it.
    fn decorated(&mut self, statement: &Stmt, define: impl FnOnce(&mut Self, TextRange, Field)) {
        let range = statement.range();
        let decorators = match statement {
            Stmt::FunctionDef(function) => &function.decorator_list,
            Stmt::ClassDef(class) => &class.decorator_list,
            _ => return,
        };
        let Some(last) = decorators.last() else { return define(self, range, Field::Other) };
        let start = self.after_blank(last.end());
        self.node(Kind::Decorated, Field::Other, range, |this| {
            for decorator in decorators {
                this.node(Kind::Decorator, Field::Other, decorator.range, |this| {
                    this.expression(&decorator.expression, Field::Other);
                });
            }
            define(this, TextRange::new(start.min(range.end()), range.end()), Field::Definition);
        });
    }

    /// The first place from here that is no white space and in no comment.
    fn after_blank(&self, from: TextSize) -> TextSize {
        let mut rest = self.code.get(usize::from(from)..).unwrap_or("").trim_start();
        while rest.starts_with('#') {
            rest = rest.split_once(['\n', '\r']).map_or("", |(_, rest)| rest).trim_start();
        }
        TextSize::of(self.code) - TextSize::of(rest)
    }

    fn function(&mut self, function: &StmtFunctionDef, range: TextRange, field: Field) {
        self.node(Kind::Function, field, range, |this| {
            this.is_async(function.is_async, range);
            this.leaf(Kind::Identifier, Field::Name, function.name.range);
            this.parameters(&function.parameters);
            if let Some(result) = &function.returns {
                this.leaf(Kind::Type, Field::ReturnType, result.range());
            }
            this.block(Field::Body, &function.body);
        });
    }

    fn class(&mut self, class: &StmtClassDef, range: TextRange, field: Field) {
        self.node(Kind::Class, field, range, |this| {
            this.leaf(Kind::Identifier, Field::Name, class.name.range);
            if let Some(bases) = &class.arguments {
                this.arguments(bases, Field::Superclasses);
            }
            this.block(Field::Body, &class.body);
        });
    }

    /// A function's or a lambda's parameters.
    pub(super) fn parameters(&mut self, parameters: &Parameters) {
        self.node(Kind::Other, Field::Parameters, parameters.range, |this| {
            for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
                this.parameter(parameter);
            }
            match &parameters.vararg {
                Some(rest) => this.rest(rest, Kind::ListSplatPattern),
                None if !parameters.kwonlyargs.is_empty() => {
                    this.leaf(Kind::KeywordSeparator, Field::Other, parameters.range);
                }
                None => {}
            }
            parameters.kwonlyargs.iter().for_each(|parameter| this.parameter(parameter));
            if let Some(rest) = &parameters.kwarg {
                this.rest(rest, Kind::DictionarySplatPattern);
            }
        });
    }

    fn parameter(&mut self, given: &ParameterWithDefault) {
        let name = given.parameter.name.range;
        let (kind, field) = match (&given.parameter.annotation, &given.default) {
            (None, None) => return self.leaf(Kind::Identifier, Field::Other, name),
            (Some(_), None) => (Kind::TypedParameter, Field::Other),
            (None, Some(_)) => (Kind::DefaultParameter, Field::Name),
            (Some(_), Some(_)) => (Kind::TypedDefaultParameter, Field::Name),
        };
        self.node(kind, Field::Other, given.range, |this| {
            this.leaf(Kind::Identifier, field, name);
            if let Some(declared) = &given.parameter.annotation {
                this.leaf(Kind::Type, Field::Type, declared.range());
            }
            this.optional(given.default.as_deref(), Field::Value);
        });
    }

    /// `*rest` and `**rest`.
    fn rest(&mut self, rest: &ruff_python_ast::Parameter, kind: Kind) {
        let name = |this: &mut Self| {
            this.node(kind, Field::Other, rest.range, |this| {
                this.leaf(Kind::Identifier, Field::Other, rest.name.range);
            });
        };
        match &rest.annotation {
            Some(declared) => self.node(Kind::TypedParameter, Field::Other, rest.range, |this| {
                name(this);
                this.leaf(Kind::Type, Field::Type, declared.range());
            }),
            None => name(self),
        }
    }

    fn with_item(&mut self, item: &WithItem) {
        // Its own parts know how far it goes: brackets around it are none of it.
        self.node(Kind::Other, Field::Other, item.range, |this| match &item.optional_vars {
            Some(target) => this.named_as(&item.context_expr, target.range(), Field::Value, |this| {
                this.expression(target, Field::Other);
            }),
            None => this.expression(&item.context_expr, Field::Value),
        });
    }

    /// `value as target`.
    fn named_as(&mut self, value: &Expr, target: TextRange, field: Field, below: impl FnOnce(&mut Self)) {
        let range = TextRange::new(value.start(), target.end());
        self.node(Kind::AsPattern, field, range, |this| {
            this.expression(value, Field::Other);
            this.node(Kind::AsPatternTarget, Field::Alias, target, below);
        });
    }

    fn tried(&mut self, statement: &StmtTry) {
        self.block(Field::Body, &statement.body);
        for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            self.node(Kind::Except, Field::Other, handler.range, |this| {
                match (handler.type_.as_deref(), &handler.name) {
                    (Some(caught), Some(name)) => {
                        this.named_as(caught, name.range, Field::Other, |this| {
                            this.leaf(Kind::Identifier, Field::Other, name.range);
                        });
                    }
                    (Some(caught), None) => this.bare(caught),
                    (None, _) => {}
                }
                this.block(Field::Other, &handler.body);
            });
        }
        self.arm(Kind::Else, Field::Other, &statement.orelse);
        self.arm(Kind::Finally, Field::Other, &statement.finalbody);
    }

    /// A name of an import, with the name that it is given.
    fn imported(&mut self, name: &Alias) {
        match &name.asname {
            Some(alias) => self.node(Kind::AliasedImport, Field::Name, name.range, |this| {
                this.dotted(name.name.range, Field::Name);
                this.leaf(Kind::Identifier, Field::Alias, alias.range);
            }),
            None => self.dotted(name.name.range, Field::Name),
        }
    }

    /// A dotted name: its first part is all that is asked for.
    fn dotted(&mut self, range: TextRange, field: Field) {
        let text = self.text(range);
        let first = text.find(|c: char| c == '.' || c.is_whitespace()).unwrap_or(text.len());
        let first = TextRange::at(range.start(), TextSize::of(&text[..first]));
        self.node(Kind::DottedName, field, range, |this| this.leaf(Kind::Identifier, Field::Other, first));
    }

    fn import_from(&mut self, statement: &StmtImportFrom) {
        let is_module =
            |name: &str| statement.module.as_ref().is_some_and(|module| module.id.as_str() == name);
        if statement.level == 0 && is_module("__future__") {
            return self.leaf(Kind::FutureImport, Field::Other, statement.range);
        }
        self.node(Kind::ImportFrom, Field::Other, statement.range, |this| {
            match &statement.module {
                Some(module) if statement.level == 0 => this.dotted(module.range, Field::ModuleName),
                module => {
                    let text = this.text(statement.range);
                    // The dots stand before anything else that holds one.
                    let start = text.find('.').map_or(TextSize::default(), |at| TextSize::of(&text[..at]));
                    let start = statement.start() + start;
                    let end = match module {
                        Some(module) => module.end(),
                        None => this.last_dot(start),
                    };
                    this.leaf(Kind::Other, Field::ModuleName, TextRange::new(start.min(end), end));
                }
            }
            for name in &statement.names {
                if name.name.id.as_str() == "*" {
                    this.leaf(Kind::WildcardImport, Field::Other, name.range);
                } else {
                    this.imported(name);
                }
            }
        });
    }

    /// One past the last of the dots that follow each other from here.
    fn last_dot(&self, from: TextSize) -> TextSize {
        let rest = self.code.get(usize::from(from)..).unwrap_or("");
        let dots = rest.find(|c: char| c != '.' && c != '\\' && !c.is_whitespace()).unwrap_or(rest.len());
        let end = rest[..dots].rfind('.').map_or(0, |at| at + 1);
        from + TextSize::of(&rest[..end])
    }

    /// The names that a pattern binds.
    fn captures(&mut self, pattern: &Pattern) {
        let captured = |this: &mut Self, name: &Option<ruff_python_ast::Identifier>| {
            if let Some(name) = name {
                this.leaf(Kind::Identifier, Field::Other, name.range);
            }
        };
        match pattern {
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(sequence) => sequence.patterns.iter().for_each(|p| self.captures(p)),
            Pattern::MatchOr(options) => options.patterns.iter().for_each(|p| self.captures(p)),
            Pattern::MatchMapping(mapping) => {
                mapping.patterns.iter().for_each(|p| self.captures(p));
                captured(self, &mapping.rest);
            }
            Pattern::MatchClass(class) => {
                class.arguments.patterns.iter().for_each(|p| self.captures(p));
                class.arguments.keywords.iter().for_each(|keyword| self.captures(&keyword.pattern));
            }
            Pattern::MatchStar(star) => captured(self, &star.name),
            Pattern::MatchAs(named) => {
                if let Some(pattern) = &named.pattern {
                    self.captures(pattern);
                }
                captured(self, &named.name);
            }
        }
    }
}
