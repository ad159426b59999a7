//! The baseline: findings that were there when the tool was adopted. A text in, a list of
//! fingerprints out, and back; who reads and writes the file is not known here.

use serde::{Deserialize, Serialize};

use super::fingerprint::KEY;
use super::summary::ReportedFinding;

/// The schema that this reads and writes.
const SCHEMA: u32 = 1;

/// One finding that the baseline hides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file, relative to the root.
    pub path: String,
    /// The rule.
    pub code: String,
    /// The enclosing symbol.
    #[serde(default)]
    pub symbol: Option<String>,
    /// The primitive.
    #[serde(default)]
    pub primitive: Option<String>,
    /// The fingerprint; the other fields are for people.
    pub fingerprint: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    key: String,
    findings: Vec<Entry>,
}

/// A baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Its entries, sorted.
    pub entries: Vec<Entry>,
}

impl Baseline {
    /// Reads a baseline, or says what is wrong with it and where.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let file: File = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if file.schema != SCHEMA || file.key != KEY {
            return Err(format!(
                "it has schema {} and key `{}`; this version reads schema {SCHEMA} and key `{KEY}`. Write it anew \
                 with `--write-baseline`",
                file.schema, file.key
            ));
        }
        let mut entries = file.findings;
        entries.sort();
        Ok(Baseline { entries })
    }

    /// The baseline of these findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a ReportedFinding>) -> Baseline {
        let mut entries: Vec<Entry> = findings
            .into_iter()
            .map(|f| Entry {
                path: f.finding.place.path.clone(),
                code: f.finding.code.to_owned(),
                symbol: f.finding.symbol.clone(),
                primitive: f.finding.primitive.clone(),
                fingerprint: f.fingerprint.clone(),
            })
            .collect();
        entries.sort();
        Baseline { entries }
    }

    /// As a file, indented, with a line end.
    pub fn write(&self) -> String {
        let file = File { schema: SCHEMA, key: KEY.to_owned(), findings: self.entries.clone() };
        // Plain structs into memory: this cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::reported;

    #[test]
    fn a_baseline_survives_its_file() {
        let baseline = Baseline::of(&reported());
        assert_eq!(Baseline::read(&baseline.write()).unwrap(), baseline);
    }

    #[test]
    fn a_bad_one_says_where_or_why() {
        assert!(Baseline::read("{\n \"schema\": }").unwrap_err().contains("line 2"));
        let other = Baseline::default().write().replace("restartlint/v1", "restartlint/v9");
        assert!(Baseline::read(&other).unwrap_err().contains("--write-baseline"));
        assert!(Baseline::read("{\"schema\":1,\"key\":\"restartlint/v1\",\"findings\":[],\"x\":1}").is_err());
    }
}
