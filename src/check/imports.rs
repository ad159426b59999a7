//! `scope = "import"`: an import before the site is allowed if it is standard library, or
//! if the file that it brings in is one that the path itself covers.

use std::sync::LazyLock;

use super::ctx::Inputs;
use crate::base::facts::{FileFacts, Language};
use crate::base::ir::Import;
use crate::base::site::Site;
use crate::data::inventory::RestartPath;
use crate::data::primitives::Catalogue;

static PYTHON: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::embedded(Language::Python).unwrap_or_default());

/// Whether a site at the module's top level stands after imports of standard library and of
/// covered files alone. For a site in a function this is not known: false.
pub fn all_covered(inputs: &Inputs<'_>, file: &FileFacts, path: &RestartPath, site: &Site) -> bool {
    let Some(program) = &file.program else { return false };
    if file.language != Language::Python || !site.import_time || site.function != 0 {
        return false;
    }
    program
        .imports
        .iter()
        .filter(|i| i.function == 0 && i.span.start < site.span.start)
        .all(|i| is_standard(&i.import.module) || covered(inputs, file, path, &i.import))
}

fn is_standard(module: &str) -> bool {
    !module.starts_with('.') && PYTHON.is_standard(module.split('.').next().unwrap_or(module))
}

/// Whether the import's file lies among the path's locations. Beside the importing file and
/// in the source roots, as Python looks for it.
fn covered(inputs: &Inputs<'_>, file: &FileFacts, path: &RestartPath, import: &Import) -> bool {
    let own = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let name = import.module.trim_start_matches('.').replace('.', "/");
    let roots = inputs.config.source_roots.iter().map(|r| r.value.as_str());
    [own, "", "src"].into_iter().chain(roots).any(|root| {
        let base =
            [root, &name].into_iter().filter(|p| !p.is_empty() && *p != ".").collect::<Vec<_>>().join("/");
        [format!("{base}.py"), format!("{base}/__init__.py")].iter().any(|candidate| {
            inputs.tree.listed.binary_search(candidate).is_ok()
                && path.locations.iter().filter_map(|l| l.value.files()).any(|f| f.holds(candidate))
        })
    })
}
