//! All catalogues of a run: the embedded ones with the configuration's additions.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::base::facts::Language;
use crate::data::commands::CommandCatalogue;
use crate::data::config::UserPrimitive;
use crate::data::primitives::Catalogue;
use crate::lang::prefilter::Prefilter;

/// The languages that are lowered to program facts.
pub const PROGRAM_LANGUAGES: [Language; 4] =
    [Language::Python, Language::Rust, Language::Javascript, Language::Go];

/// The catalogues of a run.
pub struct Catalogues {
    /// Commands.
    pub commands: CommandCatalogue,
    prefilter: OnceLock<Prefilter>,
    programs: FxHashMap<Language, Catalogue>,
    empty: Catalogue,
}

impl Catalogues {
    /// The embedded catalogues. An error is a fault of the embedded data.
    pub fn embedded() -> Result<Catalogues, String> {
        let mut programs = FxHashMap::default();
        for language in PROGRAM_LANGUAGES {
            let catalogue = Catalogue::embedded(language).map_err(|e| e.to_string())?;
            programs.insert(language, catalogue);
        }
        let commands = CommandCatalogue::built_in();
        Ok(Catalogues { commands, prefilter: OnceLock::new(), programs, empty: Catalogue::default() })
    }

    /// The embedded catalogues with the configuration's primitives.
    pub fn with(primitives: &[UserPrimitive]) -> Result<Catalogues, String> {
        let mut catalogues = Catalogues::embedded()?;
        for primitive in primitives {
            match primitive.catalogued() {
                None => catalogues.commands.add(&primitive.name, primitive.effect),
                Some(entry) => {
                    let entry = entry.map_err(|e| e.to_string())?;
                    catalogues.of_mut(primitive.language).add(entry);
                }
            }
        }
        Ok(catalogues)
    }

    /// The search for the commands' names, made on first use.
    pub fn prefilter(&self) -> &Prefilter {
        self.prefilter.get_or_init(|| Prefilter::new(&self.commands))
    }

    /// A language's primitive catalogue; empty for languages without program facts.
    pub fn of(&self, language: Language) -> &Catalogue {
        self.programs.get(&language).unwrap_or(&self.empty)
    }

    /// A language's catalogue, to add the configuration's entries.
    pub fn of_mut(&mut self, language: Language) -> &mut Catalogue {
        self.programs.entry(language).or_default()
    }
}
