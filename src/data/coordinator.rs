//! The `[coordinator]` table: how long a silent session counts as live. Collects its
//! faults with their places.

use super::fault::Fault;
use super::table::View;

/// Minutes after its last heartbeat for which a session counts as live, unless configured.
pub const HEARTBEAT_WINDOW_MINUTES: i64 = 15;
/// The most minutes that can be configured: a day.
pub const MOST_WINDOW_MINUTES: i64 = 24 * 60;

const KEYS: [&str; 1] = ["heartbeat-window-minutes"];

/// `[coordinator]`. It can make the coordinator more careful, never less: a checkout's
/// configuration must not make live sessions look dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoordinatorConfig {
    /// Minutes after its last heartbeat for which a session counts as live.
    pub heartbeat_window_minutes: i64,
}

impl Default for CoordinatorConfig {
    fn default() -> CoordinatorConfig {
        CoordinatorConfig { heartbeat_window_minutes: HEARTBEAT_WINDOW_MINUTES }
    }
}

impl CoordinatorConfig {
    /// Reads the table out of the configuration's top level; without one the defaults hold.
    pub fn read(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> CoordinatorConfig {
        let mut config = CoordinatorConfig::default();
        let Some(table) = view.table("coordinator", "[coordinator]", faults) else { return config };
        table.refuse_unknown(&KEYS, faults);
        if let Some(minutes) = table.integer("heartbeat-window-minutes", faults) {
            if (HEARTBEAT_WINDOW_MINUTES..=MOST_WINDOW_MINUTES).contains(&minutes.value) {
                config.heartbeat_window_minutes = minutes.value;
            } else {
                let message = format!(
                    "`heartbeat-window-minutes` must be between {HEARTBEAT_WINDOW_MINUTES} and {MOST_WINDOW_MINUTES}"
                );
                let help = "the window can only be widened: live sessions must not look dead";
                faults.push(Fault::new(minutes.span, message, "here").help(help));
            }
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Config, Host};

    fn read(text: &str) -> Result<i64, Vec<String>> {
        match Config::read("restartlint.toml", text, Host::Own) {
            Ok(config) => Ok(config.unwrap_or_default().coordinator.heartbeat_window_minutes),
            Err(faults) => Err(faults.faults.into_iter().map(|fault| fault.message).collect()),
        }
    }

    #[test]
    fn the_window_is_only_widened() {
        assert_eq!(read("[coordinator]\n"), Ok(15));
        assert_eq!(read(""), Ok(15));
        assert_eq!(read("[coordinator]\nheartbeat-window-minutes = 15"), Ok(15));
        assert_eq!(read("[coordinator]\nheartbeat-window-minutes = 1440"), Ok(1440));
        for minutes in ["14", "0", "-1", "1441"] {
            let faults = read(&format!("[coordinator]\nheartbeat-window-minutes = {minutes}")).unwrap_err();
            assert!(faults[0].contains("between 15 and 1440"), "{faults:?}");
        }
    }

    #[test]
    fn authority_is_no_key() {
        assert!(read("[coordinator]\noverride = true").is_err());
        assert!(read("[coordinator]\nbreak-glass = \"1\"").is_err());
    }
}
