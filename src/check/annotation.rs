//! RL403, RL404: annotations that cover nothing, and ignores that may not be. An ignore
//! that is well written and silences nothing is found where findings are decided.

use super::ctx::{Ctx, finding};
use crate::base::finding::Finding;
use crate::data::{checks, suggest};
use crate::report::annotations::{Annotation, Asks};

/// RL403, but for well-written ignores.
pub fn unused(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, annotation) in ctx.annotations.iter().enumerate() {
        match &annotation.asks {
            Asks::Path(id) => {
                let known = ctx.inputs.inventory.is_some_and(|i| i.get(id).is_some());
                if known && !ctx.used.contains(&at) {
                    found.push(idle_path(ctx, annotation, id));
                }
            }
            Asks::Unknown => found.push(finding(
                "RL403",
                annotation.place.clone(),
                "this annotation is not understood".to_owned(),
                "write `restartlint: path=ID` or `restartlint: ignore[CODE] REASON`",
            )),
            Asks::Ignore { codes, .. } => {
                for code in codes.iter().filter(|c| !is_code(c)) {
                    found.push(finding(
                        "RL403",
                        annotation.place.clone(),
                        format!("this annotation ignores `{code}`, and there is no such rule"),
                        suggest::did_you_mean(code, checks::words()),
                    ));
                }
            }
        }
    }
    found
}

fn is_code(code: &str) -> bool {
    checks::codes().any(|known| known == code)
}

fn idle_path(ctx: &Ctx<'_>, annotation: &Annotation, id: &str) -> Finding {
    let site = ctx
        .views
        .iter()
        .find(|v| v.file.path == annotation.place.path && v.place.start.line == annotation.line);
    let path = ctx.inputs.inventory.and_then(|i| i.get(id));
    let (message, help) = match (site, path) {
        (None, _) | (_, None) => (
            format!(
                "this annotation names the path `{id}`, and there is no site on line {}",
                annotation.line
            ),
            "put it on the site's line, or alone on the line directly above; else remove it",
        ),
        (Some(view), Some(path)) => {
            let here =
                path.locations.iter().filter_map(|l| l.value.files()).any(|f| f.holds(&view.file.path));
            if !path.classification.value.sanctions() {
                (
                    format!(
                        "this annotation names the path `{id}`, which is `{}` and covers nothing",
                        path.classification.value.name()
                    ),
                    "only a sanctioning path can cover a site",
                )
            } else if !here {
                (
                    format!(
                        "this annotation names the path `{id}`, whose locations do not include this file"
                    ),
                    "add the file to the path's locations if the path is meant to cover it; else remove the annotation",
                )
            } else {
                (
                    format!(
                        "this annotation names the path `{id}`, which cannot cover `{}` here",
                        view.site.primitive
                    ),
                    "an annotation never widens a path's `primitives`, nor what may happen inside the daemon",
                )
            }
        }
    };
    let mut one = finding("RL403", annotation.place.clone(), message, help);
    one.path_id = Some(id.to_owned());
    one
}

/// RL404.
pub fn without_reason(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for annotation in &ctx.annotations {
        let Asks::Ignore { codes, reason } = &annotation.asks else { continue };
        let fixed: Vec<&str> = codes
            .iter()
            .filter_map(|c| checks::find(c))
            .filter(|r| r.fixed)
            .map(|r| r.code.as_str())
            .collect();
        let place = annotation.place.clone();
        if !fixed.is_empty() {
            let message = format!("{} cannot be silenced by an annotation", fixed.join(" and "));
            let help =
                "remove the site, or register it as an exception in the inventory, where a review sees it";
            found.push(finding("RL404", place, message, help));
        } else if reason.is_empty() {
            let message = format!("this annotation ignores {} and gives no reason", codes.join(" and "));
            let help = "say why after the bracket: `restartlint: ignore[CODE] REASON`; until then it silences nothing";
            found.push(finding("RL404", place, message, help));
        }
    }
    found
}
