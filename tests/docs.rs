//! The documentation's examples are executed: what a page says is found, is found.

#![allow(clippy::disallowed_methods)]

mod tree;

use restartlint::data::{checks, pages};

#[test]
fn every_example_of_the_documentation_holds() {
    let count = tree::execute(&tree::project_files("docs", "md"));
    assert!(count > 2 * 20, "{count} examples");
}

#[test]
fn every_rule_has_a_page_with_a_finding_and_a_clean_example() {
    for rule in checks::all() {
        let page = pages::of(&rule.code).unwrap_or_else(|| panic!("{} has no page", rule.code));
        assert!(page.starts_with(&format!("# {} {}\n", rule.code, rule.name)), "{}", rule.code);
        let examples = tree::examples(page);
        let own = |e: &tree::Example| {
            e.findings.as_ref().is_some_and(|f| f.iter().any(|f| f.starts_with(&rule.code)))
        };
        assert!(examples.iter().any(own), "{} shows no finding of its own", rule.code);
        let clean = |e: &tree::Example| e.findings.as_ref().is_some_and(|f| f.is_empty());
        assert!(examples.iter().any(clean), "{} shows no clean example", rule.code);
    }
}

#[test]
fn pages_catalogue_and_folder_name_the_same_rules() {
    let catalogue: Vec<&str> = checks::codes().collect();
    let mut paged: Vec<&str> = pages::codes().collect();
    paged.sort();
    assert_eq!(paged, catalogue);
    let files: Vec<String> = tree::project_files("docs/rules", "md")
        .iter()
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let named: Vec<String> = checks::all().iter().map(|r| format!("{}-{}", r.code, r.name)).collect();
    assert_eq!(files, named);
}
