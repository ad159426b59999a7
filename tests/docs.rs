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

fn project(file: &str) -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn the_test_command_is_the_same_everywhere() {
    let readme = project("README.md");
    let command = readme
        .lines()
        .find_map(|line| line.strip_prefix("$ ").filter(|c| c.contains("cargo test")))
        .expect("README.md has the command");
    for file in [".ci/run", "CONTRIBUTING.md", "justfile"] {
        assert!(project(file).contains(command), "{file} runs something else than README.md says");
    }
    // More follows there, and `set -e` lets a list that is joined by `&&` fail.
    let ends = format!("{command} || exit");
    assert!(project(".ci/run").lines().any(|line| line == ends), ".ci/run goes on after a failure");
}

#[test]
fn every_configuration_key_and_every_command_is_documented() {
    let page = project("docs/configuration.md");
    for key in restartlint::data::config::KEYS {
        assert!(page.contains(&format!("`{key}`")), "docs/configuration.md does not name `{key}`");
    }
    let page = project("docs/inventory.md");
    for key in restartlint::data::inventory::read::KEYS {
        assert!(page.contains(&format!("`{key}`")), "docs/inventory.md does not name `{key}`");
    }
    for class in restartlint::data::inventory::Classification::ALL {
        assert!(page.contains(&format!("`{}`", class.name())), "{}", class.name());
    }
    let help = tree::run(std::path::Path::new("."), &["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let readme = project("README.md");
    for command in help
        .lines()
        .skip_while(|l| !l.starts_with("Commands:"))
        .skip(1)
        .take_while(|l| l.starts_with("  "))
        .filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' ')))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|c| !["help", "man", "completions"].contains(c))
    {
        assert!(readme.contains(&format!("`{command}`")), "README.md does not name `{command}`");
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)#]+)").unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = tree::project_files("docs", "md");
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|f| root.join(f)));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for found in link.captures_iter(&text).map(|c| c[1].to_owned()).filter(|l| !l.contains("://")) {
            assert!(page.parent().unwrap().join(&found).exists(), "{}: {found}", page.display());
        }
    }
}

#[test]
fn every_page_is_linked_from_the_front_page_or_the_index() {
    let link = regex::Regex::new(r"\]\(([^)#]+)").unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut linked = std::collections::BTreeSet::new();
    for index in ["README.md", "docs/README.md"] {
        let text = project(index);
        let folder = root.join(index).parent().unwrap().to_owned();
        linked.extend(link.captures_iter(&text).map(|c| folder.join(&c[1])));
    }
    for page in tree::project_files("docs", "md") {
        let index = page.ends_with("docs/README.md");
        assert!(index || linked.contains(&page), "no index links {}", page.display());
    }
}

#[test]
fn the_recipes_are_well_formed_and_their_commands_run() {
    let page = project("docs/ci.md");
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.sh"), "pkill -f vite\n").unwrap();
    let run = |line: &str| {
        let args: Vec<&str> = line.split_whitespace().skip(1).collect();
        tree::run(place.path(), &args).status.code()
    };
    let mut commands = 0;
    let mut fence: Option<(String, String)> = None;
    for line in page.lines() {
        match &mut fence {
            Some((kind, text)) if line == "```" => {
                if kind == "yaml" {
                    let parsed = restartlint::lang::embedded::data::Data::yaml(text);
                    assert!(parsed.fault.is_none(), "{:?} in\n{text}", parsed.fault);
                }
                fence = None;
            }
            Some((_, text)) => {
                *text += line;
                text.push('\n');
                let words = line.trim_start_matches([' ', '-', '$']).trim_start_matches("run: ");
                if words.starts_with("restartlint check") {
                    commands += 1;
                    let wanted = match words {
                        _ if words.contains("--fail-on never") || words.contains("baseline") => 0,
                        _ => 1,
                    };
                    assert_eq!(run(words), Some(wanted), "{words}");
                }
            }
            None => {
                fence = line.strip_prefix("```").map(|kind| (kind.to_owned(), String::new()));
            }
        }
    }
    assert!(commands >= 6, "{commands}");
}
