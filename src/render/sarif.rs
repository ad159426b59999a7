//! `--format sarif`: SARIF 2.1.0, and the stricter rules of those who take uploads: every
//! result has a place, URIs are relative and percent-encoded, lines count from 1, every
//! rule has its help, fingerprints hold no line, chains are code flows.

use serde_json::{Value, json};

use super::Look;
use crate::base::finding::{Place, Severity};
use crate::base::site::Confidence;
use crate::data::{checks, pages};
use crate::report::fingerprint::KEY;
use crate::report::{Report, ReportedFinding};

/// The report.
pub fn render(report: &Report, _: &Look<'_>) -> String {
    let rules: Vec<Value> = checks::all().iter().map(rule).collect();
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    super::json::pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "restartlint",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": true}],
            "results": results,
        }],
    }))
}

fn rule(rule: &checks::Rule) -> Value {
    let page = pages::of(&rule.code).unwrap_or(&rule.summary);
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace('-', " ")},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.summary, "markdown": page},
        "defaultConfiguration": {"level": rule.severity.name()},
        "properties": {"tags": ["restart", "daemon"]},
    })
}

fn result(reported: &ReportedFinding) -> Value {
    let f = &reported.finding;
    let index = checks::all().iter().position(|r| r.code == f.code).unwrap_or(0);
    let text = if f.help.is_empty() { f.message.clone() } else { format!("{}\n{}", f.message, f.help) };
    let mut location = located(&f.place);
    if let Some(symbol) = &f.symbol {
        location["logicalLocations"] = json!([{"fullyQualifiedName": symbol}]);
    }
    let mut value = json!({
        "ruleId": f.code,
        "ruleIndex": index,
        "level": level(f.severity),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {KEY: reported.fingerprint},
        "properties": {
            "confidence": f.confidence,
            "primitive": f.primitive,
            "effect": f.effect,
            "path_id": f.path_id,
        },
        "rank": rank(f.confidence),
    });
    if !f.related.is_empty() {
        let related = f.related.iter().enumerate().map(|(at, r)| {
            let mut location = located(&r.place);
            location["id"] = json!(at + 1);
            location["message"] = json!({"text": r.message});
            location
        });
        value["relatedLocations"] = related.collect();
    }
    if f.chain.len() > 1 {
        let steps = f.chain.iter().map(|step| {
            let mut location = located(&step.place);
            location["message"] = json!({"text": format!("in {}", step.symbol)});
            json!({"location": location})
        });
        value["codeFlows"] = json!([{"threadFlows": [{"locations": steps.collect::<Vec<_>>()}]}]);
    }
    value
}

fn level(severity: Severity) -> &'static str {
    severity.name()
}

/// SARIF's rank, 0 to 100: how sure.
fn rank(confidence: Confidence) -> f64 {
    match confidence {
        Confidence::Certain => 100.0,
        Confidence::Likely => 70.0,
        Confidence::Possible => 40.0,
    }
}

fn located(place: &Place) -> Value {
    let (start, end) = (place.start, place.end.max(place.start));
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(&place.path)},
        "region": {
            "startLine": start.line.max(1),
            "startColumn": start.column.max(1),
            "endLine": end.line.max(1),
            "endColumn": end.column.max(1),
        },
    }})
}

/// A relative path as a relative URI reference.
pub fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_encoded_byte_by_byte() {
        assert_eq!(uri("a b/ü#1.py"), "a%20b/%C3%BC%231.py");
        assert_eq!(uri("src/a-b_c.py"), "src/a-b_c.py");
    }
}
