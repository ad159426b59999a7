//! Faults in a user's own file, each with its place, all of them at once.
//!
//! A reader of TOML collects [`Fault`]s and never stops at the first; the face prints
//! the [`Faults`] with an excerpt of the file under each.

use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource};

/// One fault, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Byte range in the file's text.
    pub span: Range<usize>,
    /// What is wrong, one plain sentence.
    pub message: String,
    /// What stands under the underline.
    pub label: String,
    /// What to do next, if that is not plain from the message.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without help.
    pub fn new(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault { span, message: message.into(), label: label.into(), help: None }
    }

    /// The same fault with help; empty help is none.
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        let help = help.into();
        self.help = (!help.is_empty()).then_some(help);
        self
    }
}

/// Every fault of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// The file as the user knows it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The faults in order of place.
    pub faults: Vec<Fault>,
}

impl Faults {
    /// The faults in order of place; `None` if there is none.
    pub fn collect(file: &str, text: &str, mut faults: Vec<Fault>) -> Option<Faults> {
        faults.sort_by(|a, b| {
            (a.span.start, a.span.end, &a.message).cmp(&(b.span.start, b.span.end, &b.message))
        });
        faults.dedup();
        (!faults.is_empty()).then(|| Faults { file: file.to_owned(), text: text.to_owned(), faults })
    }

    /// One printable report, with an excerpt for each fault.
    pub fn report(&self) -> FaultReport {
        let count = self.faults.len();
        FaultReport {
            summary: format!(
                "{} has {count} fault{}; nothing was checked",
                self.file,
                if count == 1 { "" } else { "s" }
            ),
            related: self.faults.iter().map(|f| FaultView::new(&self.file, &self.text, f)).collect(),
        }
    }
}

/// [`Faults`] as a diagnostic.
#[derive(Debug, thiserror::Error)]
#[error("{summary}")]
pub struct FaultReport {
    summary: String,
    related: Vec<FaultView>,
}

impl Diagnostic for FaultReport {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.related.iter().map(|f| f as &dyn Diagnostic)))
    }
}

/// One fault as a diagnostic of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct FaultView {
    message: String,
    source_code: NamedSource<String>,
    label: LabeledSpan,
    help: Option<String>,
}

impl FaultView {
    fn new(file: &str, text: &str, fault: &Fault) -> FaultView {
        // The excerpt must not carry the file's control characters to the terminal.
        let shown = crate::base::terminal::same_length(text);
        let start = fault.span.start.min(text.len());
        let end = fault.span.end.clamp(start, text.len());
        FaultView {
            message: crate::base::terminal::visible(&fault.message),
            source_code: NamedSource::new(crate::base::terminal::visible(file), shown),
            label: LabeledSpan::new(Some(crate::base::terminal::visible(&fault.label)), start, end - start),
            help: fault.help.as_deref().map(crate::base::terminal::visible),
        }
    }
}

impl Diagnostic for FaultView {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source_code)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn std::fmt::Display>)
    }
}
