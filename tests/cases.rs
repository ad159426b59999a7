//! The fixtures written in Markdown: small trees, each with the findings that policy demands
//! of it, and those of a language with what must be found and what must be silent.

mod tree;

#[test]
fn every_policy_fixture_holds() {
    let count = tree::execute(&tree::project_files("fixtures/policy", "md"));
    assert!(count > 70, "{count} examples");
}

#[test]
fn every_rust_fixture_holds() {
    let count = tree::execute(&tree::project_files("fixtures/rust", "md"));
    assert!(count > 20, "{count} examples");
}
