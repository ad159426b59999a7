//! `--format junit`: JUnit XML, a suite a file, a case a finding. Errors and warnings are
//! failures; a note is a case that passes and says something. A clean run is one case.

use std::collections::BTreeMap;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::Look;
use crate::base::finding::Severity;
use crate::base::terminal::visible;
use crate::report::{Report, ReportedFinding};

/// The report.
pub fn render(report: &Report, _: &Look<'_>) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing into memory cannot fail.
    let _ = document(&mut writer, report);
    String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n"
}

fn document(writer: &mut Writer<Vec<u8>>, report: &Report) -> io::Result<()> {
    let mut suites: BTreeMap<&str, Vec<&ReportedFinding>> = BTreeMap::new();
    for reported in &report.findings {
        suites.entry(&reported.finding.place.path).or_default().push(reported);
    }
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let tests = report.findings.len().max(1).to_string();
    let failures = failures(report.findings.iter());
    writer
        .create_element("testsuites")
        .with_attributes([
            ("name", "restartlint"),
            ("tests", tests.as_str()),
            ("failures", failures.as_str()),
            ("errors", "0"),
        ])
        .write_inner_content(|writer| {
            if suites.is_empty() {
                return clean(writer);
            }
            suites.iter().try_for_each(|(path, findings)| suite(writer, path, findings))
        })?;
    Ok(())
}

fn failures<'a>(findings: impl Iterator<Item = &'a ReportedFinding>) -> String {
    findings.filter(|f| f.finding.severity > Severity::Note).count().to_string()
}

fn clean(writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer
        .create_element("testsuite")
        .with_attributes([("name", "restartlint"), ("tests", "1"), ("failures", "0"), ("errors", "0")])
        .write_inner_content(|writer| {
            writer
                .create_element("testcase")
                .with_attributes([("name", "no findings"), ("classname", "restartlint")])
                .write_empty()?;
            Ok(())
        })?;
    Ok(())
}

fn suite(writer: &mut Writer<Vec<u8>>, path: &str, findings: &[&ReportedFinding]) -> io::Result<()> {
    let (path, tests) = (xml(path), findings.len().to_string());
    let failures = failures(findings.iter().copied());
    writer
        .create_element("testsuite")
        .with_attributes([
            ("name", path.as_str()),
            ("tests", tests.as_str()),
            ("failures", failures.as_str()),
            ("errors", "0"),
        ])
        .write_inner_content(|writer| findings.iter().try_for_each(|f| case(writer, &path, f)))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, path: &str, reported: &ReportedFinding) -> io::Result<()> {
    let f = &reported.finding;
    let line = f.place.start.line.to_string();
    let name = format!("{} {} at line {line}", f.code, reported.name);
    let message = xml(&f.message);
    let body = xml(&format!("{path}:{line}:{}\n{}\n{}", f.place.start.column, f.message, f.help));
    writer
        .create_element("testcase")
        .with_attributes([
            ("name", name.as_str()),
            ("classname", path),
            ("file", path),
            ("line", line.as_str()),
        ])
        .write_inner_content(|writer| {
            if f.severity == Severity::Note {
                writer.create_element("system-out").write_text_content(BytesText::new(&body))?;
            } else {
                writer
                    .create_element("failure")
                    .with_attributes([("type", f.severity.name()), ("message", message.as_str())])
                    .write_text_content(BytesText::new(&body))?;
            }
            Ok(())
        })?;
    Ok(())
}

/// Text that XML 1.0 can hold.
fn xml(text: &str) -> String {
    visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
