//! The nearest known name, for messages about unknown ones. Pure; knows no list itself.

/// The candidate nearest to `name`, if it is near enough to be what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(name, candidates).into_iter().next()
}

/// All candidates near enough to `name`, the nearest first, ties by name.
pub fn ranked<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Long inputs are no typing mistakes, and the distance is quadratic in the length.
    if name.chars().count() > 100 {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|c| *c != name)
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= allowed(&lower, c))
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, c)| c).collect()
}

/// A third of the longer name's characters may differ, at least one.
fn allowed(name: &str, candidate: &str) -> usize {
    (name.chars().count().max(candidate.chars().count()) / 3).max(1)
}

/// `; did you mean …?`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, candidates) {
        Some(near) => format!("did you mean `{near}`?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_wins_and_far_ones_are_not_offered() {
        assert_eq!(nearest("locatons", ["notes", "location", "locations"]), Some("locations"));
        assert_eq!(nearest("RL30l", ["RL301", "RL401"]), Some("RL301"));
        assert_eq!(nearest("zzz", ["cli_reexec"]), None);
    }
}
