//! What a rule may see. A rule is a function of this and gives findings; it knows no
//! other rule, no configuration switch and no output format.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::{self, SiteView};
use super::target::Daemons;
use crate::base::facts::{DaemonModule, FileFacts, RelPath, Tree};
use crate::base::finding::{ChainStep, Finding, Place, Related};
use crate::base::site::Confidence;
use crate::base::sources::Sources;
use crate::base::span::Span;
use crate::data::checks;
use crate::data::config::Config;
use crate::data::inventory::Inventory;
use crate::report::annotations::{self, Annotation, Asks};

/// The inventory's document as found on the disk.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its path, relative to the root.
    pub path: RelPath,
    /// Its text; `None` if there is no such file.
    pub text: Option<String>,
    /// Where the configuration names it; `None` if it is found by its default name.
    pub named_at: Option<std::ops::Range<usize>>,
}

/// What is known of the disk beside the tree.
#[derive(Debug, Clone, Default)]
pub struct Presence {
    /// Locations of the inventory (their file parts) that name something that exists.
    pub existing: BTreeSet<String>,
    /// Declared daemon modules that are there and of no kind that is read.
    pub unread: BTreeSet<RelPath>,
    /// Folders and files that are there and could not be looked at, with the reason.
    pub closed: BTreeMap<RelPath, String>,
    /// The whole project was scanned, in every language: what is not there is gone.
    pub whole: bool,
}

/// Everything that rules read.
pub struct Inputs<'a> {
    /// The linked tree.
    pub tree: &'a Tree,
    /// Texts, for places.
    pub sources: &'a Sources,
    /// The configuration.
    pub config: &'a Config,
    /// The inventory, if there is one.
    pub inventory: Option<&'a Inventory>,
    /// The inventory's document, if there is to be one.
    pub document: Option<&'a Document>,
    /// What is known of the disk.
    pub presence: &'a Presence,
}

/// What a rule may see: the inputs, and every site with its verdict.
pub struct Ctx<'a> {
    /// The inputs.
    pub inputs: Inputs<'a>,
    /// Every site with its verdict, by file and place.
    pub views: Vec<SiteView<'a>>,
    /// Every annotation.
    pub annotations: Vec<Annotation>,
    /// Indices of `path=` annotations that cover a site.
    pub used: BTreeSet<usize>,
}

impl<'a> Ctx<'a> {
    /// Reads annotations and judges every site once.
    pub fn new(inputs: Inputs<'a>) -> Ctx<'a> {
        let mut annotations = Vec::new();
        for file in &inputs.tree.files {
            annotations.extend(annotations::place(&file.path, &file.annotations, inputs.sources));
        }
        annotations.iter_mut().for_each(name_codes);
        let daemons = Daemons::of(inputs.tree, inputs.config, inputs.inventory);
        let (views, used) = judge::judge(&inputs, &annotations, &daemons);
        Ctx { inputs, views, annotations, used }
    }

    /// The tree.
    pub fn tree(&self) -> &'a Tree {
        self.inputs.tree
    }

    /// The daemon module that a file is, if it is one.
    pub fn daemon(&self, path: &str) -> Option<&'a DaemonModule> {
        self.inputs.tree.daemons.iter().find(|d| d.path == path)
    }

    /// A span of a file as a place.
    pub fn place(&self, file: &FileFacts, span: Span) -> Place {
        self.inputs.sources.place(&file.path, span)
    }

    /// A byte range of the inventory as a place.
    pub fn inventory_place(&self, range: &std::ops::Range<usize>) -> Place {
        let path = self.inputs.inventory.map_or("", |i| i.file.as_str());
        self.inputs.sources.place(path, Span::new(range.start, range.end))
    }

    /// A byte range of the configuration as a place.
    pub fn config_place(&self, range: &std::ops::Range<usize>) -> Option<Place> {
        let origin = self.inputs.config.origin.as_ref()?;
        Some(self.inputs.sources.place(&origin.file, Span::new(range.start, range.end)))
    }
}

/// A rule's name in an `ignore` stands for its code, as on the command line.
fn name_codes(annotation: &mut Annotation) {
    let Asks::Ignore { codes, .. } = &mut annotation.asks else { return };
    for word in codes {
        if let Some(rule) = checks::find(word) {
            word.clone_from(&rule.code);
        }
    }
}

/// A finding at a place, with its rule's default severity.
pub fn finding(code: &'static str, place: Place, message: String, help: impl Into<String>) -> Finding {
    Finding {
        code,
        severity: checks::find(code).map_or(crate::base::finding::Severity::Error, |r| r.severity),
        confidence: Confidence::Certain,
        message,
        place,
        primitive: None,
        effect: None,
        via: None,
        symbol: None,
        path_id: None,
        chain: Vec::new(),
        related: Vec::new(),
        help: help.into(),
    }
}

/// A finding about a site: its place, primitive, symbol, chain and confidence.
pub fn site_finding(
    ctx: &Ctx<'_>,
    view: &SiteView<'_>,
    code: &'static str,
    message: String,
    help: impl Into<String>,
) -> Finding {
    let mut found = finding(code, view.place.clone(), message, help);
    found.confidence = view.confidence();
    found.primitive = Some(view.site.primitive.clone());
    found.effect = Some(view.site.effect);
    found.via = Some(view.site.via);
    found.symbol = Some(view.site.symbol.clone());
    if let Some(reach) = &view.reach {
        found.chain = reach
            .steps
            .iter()
            .filter_map(|step| {
                let file = ctx.tree().files.get(step.file)?;
                Some(ChainStep { place: ctx.place(file, step.span), symbol: step.symbol.clone() })
            })
            .chain(std::iter::once(ChainStep { place: view.place.clone(), symbol: view.site.symbol.clone() }))
            .collect();
    }
    found
}

/// A label in the inventory.
pub fn related(ctx: &Ctx<'_>, range: &std::ops::Range<usize>, message: impl Into<String>) -> Related {
    Related { place: ctx.inventory_place(range), message: message.into() }
}
