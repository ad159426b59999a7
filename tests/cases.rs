//! The policy fixtures: small trees, each with the findings that policy demands.

mod tree;

#[test]
fn every_policy_fixture_holds() {
    let count = tree::execute(&tree::project_files("fixtures/policy", "md"));
    assert!(count > 70, "{count} examples");
}
