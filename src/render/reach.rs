//! `reach` in its formats: every site in the daemon's reach with the chain that leads to it.
//! Policy has no part in this: what is sanctioned is listed like everything else.

use std::collections::BTreeSet;

use serde::Serialize;

use super::json::{self, WireDaemon};
use crate::base::effect::Effect;
use crate::base::facts::{FileFacts, Tree};
use crate::base::site::Confidence;
use crate::base::sources::Sources;
use crate::base::terminal::{one_line, visible};

/// The document of `reach --format json`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireReach<'a> {
    /// Version of this shape.
    pub schema: u32,
    /// The daemon modules.
    pub daemon_modules: Vec<WireDaemon<'a>>,
    /// Every site in their reach, by path, line, column.
    pub sites: Vec<WireReached<'a>>,
}

/// A site in the daemon's reach.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireReached<'a> {
    /// Relative path.
    pub path: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The enclosing symbol.
    pub symbol: &'a str,
    /// The primitive.
    pub primitive: &'a str,
    /// Its effect.
    pub effect: Effect,
    /// How sure the whole chain is.
    pub confidence: Confidence,
    /// From the daemon module to the site, the site last.
    pub chain: Vec<WireLink<'a>>,
}

/// A step of a chain.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct WireLink<'a> {
    /// Relative path.
    pub path: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The symbol that the step stands in.
    pub symbol: &'a str,
}

/// Every site in reach.
pub fn collect<'a>(tree: &'a Tree, sources: &Sources) -> WireReach<'a> {
    let mut sites = Vec::new();
    for (at, file) in tree.files.iter().enumerate() {
        let daemon = tree.daemons.iter().any(|d| d.file == Some(at));
        for site in &file.sites {
            let chain = tree.reach.get(&(at, site.function));
            if chain.is_none() && !daemon {
                continue;
            }
            let link = |file: &'a FileFacts, span, symbol: &'a str| {
                let start = sources.place(&file.path, span).start;
                WireLink { path: &file.path, line: start.line, column: start.column, symbol }
            };
            let own = link(file, site.span, &site.symbol);
            let steps = chain.map_or(&[][..], |c| &c.steps);
            let links = steps
                .iter()
                .filter_map(|step| Some(link(tree.files.get(step.file)?, step.span, &step.symbol)))
                .chain(std::iter::once(own.clone()));
            sites.push(WireReached {
                path: &file.path,
                line: own.line,
                column: own.column,
                symbol: &site.symbol,
                primitive: &site.primitive,
                effect: site.effect,
                confidence: chain.map_or(site.confidence, |c| c.confidence.min(site.confidence)),
                chain: links.collect(),
            });
        }
    }
    let key = |s: &WireReached<'a>| (s.path, s.line, s.column, s.primitive);
    sites.sort_by(|a, b| key(a).cmp(&key(b)));
    let daemon = |d: &'a crate::base::facts::DaemonModule| WireDaemon {
        path: &d.path,
        declared: d.declared,
        reason: &d.reason,
    };
    WireReach { schema: 1, daemon_modules: tree.daemons.iter().map(daemon).collect(), sites }
}

/// One document.
pub fn as_json(reach: &WireReach<'_>) -> String {
    json::pretty(reach)
}

/// For people: each site, and under it the steps that lead to it.
pub fn as_text(reach: &WireReach<'_>) -> String {
    let mut out = String::new();
    for site in &reach.sites {
        let confidence = match site.confidence {
            Confidence::Certain => "",
            Confidence::Likely => " (likely)",
            Confidence::Possible => " (possible)",
        };
        let head = format!(
            "{}:{}:{}: {} {}{confidence}",
            site.path, site.line, site.column, site.effect, site.primitive
        );
        out += &one_line(&head);
        out.push('\n');
        for link in &site.chain {
            out += "    ";
            out += &one_line(&format!("{}:{}:{} in {}", link.path, link.line, link.column, link.symbol));
            out.push('\n');
        }
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    out + &format!(
        "{} in the reach of {}\n",
        count(reach.sites.len(), "site"),
        count(reach.daemon_modules.len(), "daemon module")
    )
}

/// A graph for Graphviz: functions are nodes, steps are edges, sites are boxes.
pub fn as_dot(reach: &WireReach<'_>) -> String {
    let quoted = |text: &str| format!("\"{}\"", visible(text).replace('\\', "\\\\").replace('"', "\\\""));
    let node = |link: &WireLink<'_>| quoted(&format!("{}\n{}", link.path, link.symbol)).replace('\n', "\\n");
    let (mut nodes, mut edges) = (BTreeSet::new(), BTreeSet::new());
    for site in &reach.sites {
        for pair in site.chain.windows(2) {
            if let [from, to] = pair
                && node(from) != node(to)
            {
                edges.insert(format!("  {} -> {};\n", node(from), node(to)));
            }
        }
        let Some(last) = site.chain.last() else { continue };
        let name = format!("{}\n{}:{}", site.primitive, site.path, site.line);
        let name = quoted(&name).replace('\n', "\\n");
        nodes.insert(format!("  {name} [shape=box];\n"));
        edges.insert(format!("  {} -> {name};\n", node(last)));
    }
    let join = |set: BTreeSet<String>| set.into_iter().collect::<String>();
    format!("digraph reach {{\n  rankdir=LR;\n{}{}}}\n", join(nodes), join(edges))
}

/// A page that stands alone: no script, nothing fetched.
pub fn as_html(reach: &WireReach<'_>) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>The daemon's reach</title>\n<style>\n\
         body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n\
         code { font-size: .95em; } details { border-top: 1px solid #8888; padding: .5rem 0; }\n\
         summary { cursor: pointer; overflow-wrap: anywhere; } li { overflow-wrap: anywhere; }\n\
         </style>\n<h1>The daemon's reach</h1>\n<ul>\n",
    );
    for daemon in &reach.daemon_modules {
        out += &format!("<li><code>{}</code>: {}</li>\n", escaped(daemon.path), escaped(daemon.reason));
    }
    out += &format!(
        "</ul>\n<p>{} in reach.</p>\n",
        match reach.sites.len() {
            1 => "1 site".to_owned(),
            n => format!("{n} sites"),
        }
    );
    for site in &reach.sites {
        out += &format!(
            "<details open>\n<summary><strong>{}</strong> <code>{}</code> at <code>{}:{}</code></summary>\n<ol>\n",
            site.effect,
            escaped(site.primitive),
            escaped(site.path),
            site.line
        );
        for link in &site.chain {
            out += &format!(
                "<li><code>{}:{}</code> in <code>{}</code></li>\n",
                escaped(link.path),
                link.line,
                escaped(link.symbol)
            );
        }
        out += "</ol>\n</details>\n";
    }
    out + "</html>\n"
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::facts::{Chain, DaemonModule, Language, Step};
    use crate::base::site::Site;
    use crate::base::source::Source;
    use crate::base::span::Span;

    fn sample() -> (Tree, Sources) {
        let mut sources = Sources::default();
        sources.insert("a<b>.py", Source::new("import ops\nops.go()\n"));
        sources.insert("ops.py", Source::new("import os\ndef go():\n    os.abort()\n"));
        let mut ops = FileFacts::new("ops.py", Language::Python);
        let mut site = Site::new(Span::new(24, 34), "os.abort", Effect::Terminate);
        site.symbol = "go".into();
        site.function = 1;
        ops.sites.push(site);
        let mut tree =
            Tree { files: vec![FileFacts::new("a<b>.py", Language::Python), ops], ..Tree::default() };
        tree.daemons.push(DaemonModule {
            path: "a<b>.py".into(),
            file: Some(0),
            declared: true,
            reason: "declared".into(),
        });
        let step = Step { file: 0, span: Span::new(11, 19), symbol: "<module>".into() };
        tree.reach.insert((1, 1), Chain { steps: vec![step], confidence: Confidence::Likely });
        (tree, sources)
    }

    #[test]
    fn a_chain_is_printed_step_by_step() {
        let (tree, sources) = sample();
        let reach = collect(&tree, &sources);
        let text = as_text(&reach);
        assert_eq!(
            text,
            "ops.py:3:5: terminate os.abort (likely)\n    a<b>.py:2:1 in <module>\n    ops.py:3:5 in go\n1 site in the \
             reach of 1 daemon module\n"
        );
        assert!(as_json(&reach).contains("\"confidence\": \"likely\""));
    }

    #[test]
    fn names_are_escaped_in_pages_and_graphs() {
        let (tree, sources) = sample();
        let reach = collect(&tree, &sources);
        assert!(as_html(&reach).contains("a&lt;b&gt;.py") && !as_html(&reach).contains("a<b>"));
        let dot = as_dot(&reach);
        assert!(dot.contains("\"a<b>.py\\n<module>\" -> \"ops.py\\ngo\";"), "{dot}");
    }
}
