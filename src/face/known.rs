//! Words that a shell may offer for an argument that takes others too.
//!
//! What is no such word is refused later, by the command itself, with the nearest one; the grammar takes it.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};

use crate::base::effect::Effect;
use crate::base::facts::Language;
use crate::data::{checks, glossary};

/// A parser of any text that knows some of it.
#[derive(Debug, Clone)]
pub struct Known(fn() -> Vec<PossibleValue>);

impl Known {
    /// The codes of the rules.
    pub fn rules() -> Known {
        Known(rules)
    }

    /// What `explain` can be asked for: the codes of the rules, the effects and the statuses.
    pub fn topics() -> Known {
        Known(|| {
            let effects = Effect::ALL.map(Effect::name).into_iter();
            let words = effects.chain(glossary::all().map(|entry| entry.word)).map(PossibleValue::new);
            rules().into_iter().chain(words).collect()
        })
    }

    /// The languages.
    pub fn languages() -> Known {
        Known(|| Language::ALL.map(|l| PossibleValue::new(l.name())).into())
    }
}

fn rules() -> Vec<PossibleValue> {
    checks::all().iter().map(|r| PossibleValue::new(r.code.as_str()).help(r.name.as_str())).collect()
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}
