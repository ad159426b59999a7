//! `sites` in its three formats. The wire structs are apart from the internal ones:
//! what is printed is a promise, what is inside is not.

use serde::Serialize;

use crate::base::effect::Effect;
use crate::base::facts::{Language, Tree};
use crate::base::site::{Target, Via};
use crate::base::sources::Sources;
use crate::base::terminal;

/// One site as printed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireSite<'a> {
    /// Relative path with `/`.
    pub path: &'a str,
    /// First line, from 1.
    pub line: u32,
    /// First column in Unicode scalar values, from 1.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column one past the end.
    pub end_column: u32,
    /// What the file was read as.
    pub language: Language,
    /// Canonical name of the primitive.
    pub primitive: &'a str,
    /// What it does.
    pub effect: Effect,
    /// How it is written.
    pub via: Via,
    /// The enclosing symbol.
    pub symbol: &'a str,
    /// Runs when the module is imported.
    pub import_time: bool,
    /// In the child branch of a fork.
    pub fork_child: bool,
    /// A script's hand-over to another program.
    pub launcher: bool,
    /// What a kill or supervise action is aimed at.
    pub target: Option<WireTarget<'a>>,
}

/// A target as printed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireTarget<'a> {
    /// Which kind of thing is named.
    pub kind: crate::base::site::TargetKind,
    /// As written.
    pub text: &'a str,
}

impl<'a> From<&'a Target> for WireTarget<'a> {
    fn from(target: &'a Target) -> WireTarget<'a> {
        WireTarget { kind: target.kind, text: &target.text }
    }
}

/// The document of `sites --format json`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireSites<'a> {
    /// Version of this shape.
    pub schema: u32,
    /// All sites by path, line, column.
    pub sites: Vec<WireSite<'a>>,
}

fn wire<'a>(tree: &'a Tree, sources: &Sources) -> Vec<WireSite<'a>> {
    let mut sites: Vec<WireSite<'a>> = Vec::new();
    for file in &tree.files {
        for site in &file.sites {
            let place = sources.place(&file.path, site.span);
            sites.push(WireSite {
                path: &file.path,
                line: place.start.line,
                column: place.start.column,
                end_line: place.end.line,
                end_column: place.end.column,
                language: file.language,
                primitive: &site.primitive,
                effect: site.effect,
                via: site.via,
                symbol: &site.symbol,
                import_time: site.import_time,
                fork_child: site.fork_child,
                launcher: site.launcher,
                target: site.target.as_ref().map(WireTarget::from),
            });
        }
    }
    let key = |s: &WireSite<'a>| (s.path, s.line, s.column, s.end_line, s.end_column, s.effect, s.primitive);
    sites.sort_by(|a, b| key(a).cmp(&key(b)));
    sites
}

/// One document.
pub fn json(tree: &Tree, sources: &Sources) -> String {
    super::json::pretty(&WireSites { schema: 1, sites: wire(tree, sources) })
}

/// An object a line.
pub fn jsonl(tree: &Tree, sources: &Sources) -> String {
    wire(tree, sources).iter().map(|site| super::json::line(site) + "\n").collect()
}

/// A line a site, for people.
pub fn text(tree: &Tree, sources: &Sources) -> String {
    let sites = wire(tree, sources);
    let mut out = String::new();
    for site in &sites {
        let mut line = format!(
            "{}:{}:{}: {} {} in {}",
            site.path, site.line, site.column, site.effect, site.primitive, site.symbol
        );
        if let Some(target) = site.target.as_ref().filter(|t| !t.text.is_empty()) {
            line += &format!(" -> {}", target.text);
        }
        for (mark, set) in
            [("import time", site.import_time), ("fork child", site.fork_child), ("launcher", site.launcher)]
        {
            if set {
                line += &format!(" [{mark}]");
            }
        }
        out += &terminal::one_line(&line);
        out.push('\n');
    }
    out
}
