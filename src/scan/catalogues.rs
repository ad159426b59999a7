//! All catalogues of a run: the embedded ones with the configuration's additions.

use std::sync::OnceLock;

use crate::base::effect::Effect;
use crate::base::facts::Language;
use crate::data::commands::CommandCatalogue;
use crate::data::config::UserPrimitive;
use crate::data::primitives::{Catalogue, PrimitiveEntry};
use crate::lang::prefilter::Prefilter;

/// The languages that are lowered to program facts.
pub const PROGRAM_LANGUAGES: [Language; 4] =
    [Language::Python, Language::Rust, Language::Javascript, Language::Go];

/// The catalogues of a run, each read when it is first asked for.
#[derive(Default)]
pub struct Catalogues {
    commands: OnceLock<CommandCatalogue>,
    prefilter: OnceLock<Prefilter>,
    programs: [OnceLock<Catalogue>; PROGRAM_LANGUAGES.len()],
    /// What the configuration adds.
    own_commands: Vec<(String, Effect)>,
    own: Vec<(Language, PrimitiveEntry)>,
    empty: Catalogue,
}

impl Catalogues {
    /// The embedded catalogues with the configuration's primitives. An error is a fault of one of these.
    pub fn with(primitives: &[UserPrimitive]) -> Result<Catalogues, String> {
        let mut catalogues = Catalogues::default();
        for primitive in primitives {
            match primitive.catalogued() {
                None => catalogues.own_commands.push((primitive.name.clone(), primitive.effect)),
                Some(entry) => {
                    catalogues.own.push((primitive.language, entry.map_err(|e| e.to_string())?));
                }
            }
        }
        Ok(catalogues)
    }

    /// Commands.
    pub fn commands(&self) -> &CommandCatalogue {
        if self.own_commands.is_empty() {
            return CommandCatalogue::shared();
        }
        self.commands.get_or_init(|| {
            let mut commands = CommandCatalogue::built_in();
            self.own_commands.iter().for_each(|(name, effect)| commands.add(name, *effect));
            commands
        })
    }

    /// The search for the commands' names, made on first use.
    pub fn prefilter(&self) -> &Prefilter {
        self.prefilter.get_or_init(|| Prefilter::new(self.commands()))
    }

    /// A language's primitive catalogue; empty for languages without program facts.
    pub fn of(&self, language: Language) -> &Catalogue {
        let Some(at) = PROGRAM_LANGUAGES.iter().position(|known| *known == language) else {
            return &self.empty;
        };
        self.programs[at].get_or_init(|| {
            // A test reads each embedded one.
            let mut catalogue = Catalogue::embedded(language).unwrap_or_default();
            for (_, entry) in self.own.iter().filter(|(of, _)| *of == language) {
                catalogue.add(entry.clone());
            }
            catalogue
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_catalogue_can_be_read() {
        for language in PROGRAM_LANGUAGES {
            assert!(Catalogue::embedded(language).is_ok_and(|c| !c.primitives().is_empty()), "{language:?}");
        }
        assert!(!Catalogues::default().commands().command_names().is_empty());
    }
}
