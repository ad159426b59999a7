//! The tool on its own checkout: clean, and its own inventory in order.

mod tree;

use std::path::Path;

#[test]
fn the_checkout_is_clean_by_its_own_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = tree::run(root, &["check", "--format", "json", "."]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(tree::found(&stdout), Vec::<String>::new());
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn its_inventory_is_decided_and_its_document_in_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = tree::run(root, &["inventory", "check"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_sample_shows_findings_and_the_inventory_at_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sample");
    let output = tree::run(&root, &["check", "--format", "json", "."]);
    assert_eq!(output.status.code(), Some(1));
    let found = tree::found(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(found, ["RL101 ops/lifecycle.py:11", "RL301 RUNBOOK.md:6", "RL303 deploy.sh:4"]);
}
