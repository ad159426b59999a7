//! The verdict on each site, made once: in the daemon's reach or not, covered by which
//! path, matched by which forbidden or removed one. Rules only put verdicts into words,
//! so one site never yields two findings.

use std::collections::BTreeSet;

use super::ctx::Inputs;
use super::imports;
use super::target::Daemons;
use crate::base::effect::Effect;
use crate::base::facts::{Chain, FileFacts};
use crate::base::finding::Place;
use crate::base::site::{Confidence, Site};
use crate::data::inventory::document::generated_range;
use crate::data::inventory::{Classification, RestartPath};
use crate::report::annotations::{Annotation, Asks};

/// What a covered site lacks of what its path demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// No condition tests these names.
    Guard(Vec<String>),
    /// Does not run at import time.
    ImportTime,
    /// Runs after an import that is not standard library.
    AfterImports,
}

/// The verdict on one site.
#[derive(Debug, Clone)]
pub enum Verdict<'a> {
    /// Nothing to say.
    Quiet,
    /// Covered by a path; `exception` where it lies in the daemon's reach by `daemon_exception`.
    Covered {
        /// The path.
        path: &'a RestartPath,
        /// Counted in the report.
        exception: bool,
    },
    /// Covered, and lacks what the path demands.
    Unguarded(&'a RestartPath, Lack),
    /// In the daemon's reach; with the path that would cover it anywhere else, or that forbids it.
    Daemon(Option<&'a RestartPath>),
    /// Brings back what a `removed` path lists.
    Removed(&'a RestartPath),
    /// Matches a `forbidden` path.
    Forbidden(&'a RestartPath),
    /// No path covers it.
    Unregistered,
}

/// A site with all that is known of it.
#[derive(Debug, Clone)]
pub struct SiteView<'a> {
    /// Its file.
    pub file: &'a FileFacts,
    /// The site.
    pub site: &'a Site,
    /// Its place.
    pub place: Place,
    /// Its file is a daemon module.
    pub in_daemon: bool,
    /// How the daemon reaches it; `None` outside the reach.
    pub reach: Option<Chain>,
    /// The verdict.
    pub verdict: Verdict<'a>,
    /// Every sanctioning path whose text covers it, in the inventory's order.
    pub covering: Vec<&'a RestartPath>,
}

impl SiteView<'_> {
    /// The least sure of the site and its chain.
    pub fn confidence(&self) -> Confidence {
        self.reach.as_ref().map_or(self.site.confidence, |r| r.confidence.min(self.site.confidence))
    }
}

/// Judges every site. Also gives the indices of `path=` annotations that cover one.
pub fn judge<'a>(
    inputs: &Inputs<'a>,
    annotations: &[Annotation],
    daemons: &Daemons,
) -> (Vec<SiteView<'a>>, BTreeSet<usize>) {
    let mut views = Vec::new();
    let mut used = BTreeSet::new();
    for (at, file) in inputs.tree.files.iter().enumerate() {
        let in_daemon = inputs.tree.daemons.iter().any(|d| d.file == Some(at));
        let mut sites: Vec<(Place, &Site)> =
            file.sites.iter().map(|s| (inputs.sources.place(&file.path, s.span), s)).collect();
        sites.sort_by(|a, b| (&a.0, &a.1.primitive).cmp(&(&b.0, &b.1.primitive)));
        for (place, site) in sites {
            let reach =
                inputs.tree.reach.get(&(at, site.function)).cloned().or_else(|| {
                    in_daemon.then(|| Chain { steps: Vec::new(), confidence: Confidence::Certain })
                });
            let mut view = SiteView {
                file,
                site,
                place,
                in_daemon,
                reach,
                verdict: Verdict::Quiet,
                covering: Vec::new(),
            };
            view.covering = covering(inputs, file, site);
            let tied = tie(inputs, annotations, &used, &view);
            view.verdict = match (tied, verdict(inputs, daemons, &view, tied.map(|t| t.1))) {
                (Some((index, path)), verdict) => {
                    // A hand-over needs nobody's word; one that is given is not left over.
                    if covers_by(&verdict, path) || is_hand_over(site) {
                        used.insert(index);
                    }
                    verdict
                }
                (None, verdict) => verdict,
            };
            views.push(view);
        }
    }
    (views, used)
}

/// Whether the verdict rests on this path.
fn covers_by(verdict: &Verdict<'_>, path: &RestartPath) -> bool {
    match verdict {
        Verdict::Covered { path: by, .. } | Verdict::Unguarded(by, _) => by.id.value == path.id.value,
        _ => false,
    }
}

/// The sanctioning paths whose location and primitives mean this site.
fn covering<'a>(inputs: &Inputs<'a>, file: &FileFacts, site: &Site) -> Vec<&'a RestartPath> {
    let paths = inputs.inventory.map_or(&[][..], |i| &i.paths);
    paths
        .iter()
        .filter(|p| {
            means(p, site)
                && p.locations
                    .iter()
                    .filter_map(|l| l.value.files())
                    .any(|f| f.holds_symbol(&file.path, &site.symbol))
        })
        .collect()
}

/// Whether a sanctioning path is about this primitive.
pub fn means(path: &RestartPath, site: &Site) -> bool {
    match path.classification.value {
        Classification::SanctionedNarrowRecovery => lists(path, site),
        Classification::GuardedFailClosed => site.effect == Effect::Exit,
        _ => false,
    }
}

/// Whether a path's `primitives` list this one.
fn lists(path: &RestartPath, site: &Site) -> bool {
    path.primitives.iter().any(|p| p.value.matches(&site.primitive, site.effect))
}

/// The first unused `path=` annotation for this site whose path it can be tied to.
fn tie<'a>(
    inputs: &Inputs<'a>,
    annotations: &[Annotation],
    used: &BTreeSet<usize>,
    view: &SiteView<'a>,
) -> Option<(usize, &'a RestartPath)> {
    let inventory = inputs.inventory?;
    annotations.iter().enumerate().find_map(|(index, annotation)| {
        let Asks::Path(id) = &annotation.asks else { return None };
        let here = annotation.place.path == view.file.path && annotation.line == view.place.start.line;
        if !here || used.contains(&index) {
            return None;
        }
        let path = inventory.get(id)?;
        let holds = path.locations.iter().filter_map(|l| l.value.files()).any(|f| f.holds(&view.file.path));
        (holds && means(path, view.site)).then_some((index, path))
    })
}

fn verdict<'a>(
    inputs: &Inputs<'a>,
    daemons: &Daemons,
    view: &SiteView<'a>,
    tied: Option<&'a RestartPath>,
) -> Verdict<'a> {
    let site = view.site;
    if site.test_only || is_generated(inputs, view) {
        return Verdict::Quiet;
    }
    let candidates: Vec<&'a RestartPath> = tied.into_iter().chain(view.covering.iter().copied()).collect();
    if view.reach.is_some() {
        if let Some(verdict) = in_reach(inputs, view, &candidates) {
            return verdict;
        }
    } else if let Some(path) = listed(inputs, view, Classification::Removed) {
        return Verdict::Removed(path);
    } else if let Some(path) = forbidden(inputs, daemons, view) {
        return Verdict::Forbidden(path);
    } else if is_hand_over(site) {
        return Verdict::Quiet;
    } else if let Some(verdict) = cover(inputs, view, &candidates, false) {
        return verdict;
    }
    match (&view.reach, site.effect) {
        (None, Effect::Exit) => Verdict::Quiet,
        (None, _) => Verdict::Unregistered,
        // An exit at the entry point, or because the client is gone: no daemon rule, but an explicit word stands.
        (Some(_), _) => {
            match (listed(inputs, view, Classification::Removed), forbidden(inputs, daemons, view)) {
                (Some(path), _) => Verdict::Removed(path),
                (None, Some(path)) => Verdict::Forbidden(path),
                (None, None) => Verdict::Quiet,
            }
        }
    }
}

/// The verdict in the daemon's reach; `None` where no daemon rule speaks.
fn in_reach<'a>(
    inputs: &Inputs<'a>,
    view: &SiteView<'a>,
    candidates: &[&'a RestartPath],
) -> Option<Verdict<'a>> {
    let site = view.site;
    if is_hand_over(site) {
        return None;
    }
    let able: Vec<&'a RestartPath> = candidates
        .iter()
        .copied()
        .filter(|path| {
            path.classification.value == Classification::GuardedFailClosed || excepts(path, view.file, site)
        })
        .collect();
    if let Some(verdict) = cover(inputs, view, &able, true) {
        return Some(verdict);
    }
    if site.effect == Effect::Exit && (site.entrypoint || site.client_gone) {
        return None;
    }
    let listed = [Classification::Removed, Classification::Forbidden]
        .into_iter()
        .find_map(|classification| listed(inputs, view, classification));
    Some(Verdict::Daemon(listed.or(candidates.first().copied())))
}

/// Whether the path is an exception for the daemon that names this very file and symbol.
fn excepts(path: &RestartPath, file: &FileFacts, site: &Site) -> bool {
    path.daemon_exception
        && path
            .locations
            .iter()
            .filter_map(|l| l.value.files())
            .any(|f| f.literal && f.symbol.is_some() && f.holds_symbol(&file.path, &site.symbol))
}

/// Covered by the first path whose demands are met, else unguarded by the first.
fn cover<'a>(
    inputs: &Inputs<'_>,
    view: &SiteView<'a>,
    candidates: &[&'a RestartPath],
    reach: bool,
) -> Option<Verdict<'a>> {
    let (file, site) = (view.file, view.site);
    let met = candidates.iter().find(|path| lack(inputs, file, path, site).is_none());
    if let Some(path) = met {
        let exception = reach && path.classification.value != Classification::GuardedFailClosed;
        return Some(Verdict::Covered { path, exception });
    }
    let path = candidates.first()?;
    Some(Verdict::Unguarded(path, lack(inputs, file, path, site)?))
}

/// What the site lacks of what the path demands.
fn lack(inputs: &Inputs<'_>, file: &FileFacts, path: &RestartPath, site: &Site) -> Option<Lack> {
    let untested: Vec<String> = path
        .guarded_by
        .iter()
        .map(|g| g.value.trim())
        .filter(|name| !site.guards.iter().any(|guard| tests(guard, name)))
        .map(str::to_owned)
        .collect();
    if !untested.is_empty() {
        Some(Lack::Guard(untested))
    } else if path.import_scope && !site.before_imports && !imports::all_covered(inputs, file, path, site) {
        Some(if site.import_time { Lack::AfterImports } else { Lack::ImportTime })
    } else {
        None
    }
}

/// Whether a tested name is the demanded one, or a member of it.
fn tests(guard: &str, name: &str) -> bool {
    guard == name || guard.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ':', '[']))
}

/// Words of the inventory itself, repeated in the generated part of its document.
fn is_generated(inputs: &Inputs<'_>, view: &SiteView<'_>) -> bool {
    inputs.document.is_some_and(|document| {
        document.path == view.file.path
            && document
                .text
                .as_deref()
                .and_then(generated_range)
                .is_some_and(|range| range.contains(&(view.site.span.start as usize)))
    })
}

/// A child's own end, or a script's first start of another program: no restart.
fn is_hand_over(site: &Site) -> bool {
    site.launcher
        || (site.fork_child && matches!(site.effect, Effect::Replace | Effect::Terminate | Effect::Exit))
}

/// The path of that classification whose primitives list the site at its locations.
fn listed<'a>(
    inputs: &Inputs<'a>,
    view: &SiteView<'a>,
    classification: Classification,
) -> Option<&'a RestartPath> {
    inputs.inventory?.paths.iter().find(|path| {
        path.classification.value == classification
            && lists(path, view.site)
            && path
                .locations
                .iter()
                .filter_map(|l| l.value.files())
                .any(|f| f.holds_symbol(&view.file.path, &view.site.symbol))
    })
}

/// The forbidden path that the site matches: by primitive at its locations, or by command anywhere.
fn forbidden<'a>(inputs: &Inputs<'a>, daemons: &Daemons, view: &SiteView<'a>) -> Option<&'a RestartPath> {
    listed(inputs, view, Classification::Forbidden).or_else(|| {
        let site = view.site;
        inputs.inventory?.paths.iter().find(|path| {
            path.classification.value == Classification::Forbidden
                && path.commands.iter().any(|command| {
                    match command.value.matches(&site.command, &site.primitive) {
                        Some(bare) => !bare || daemons.hit_by(site.target.as_ref()),
                        None => false,
                    }
                })
        })
    })
}
