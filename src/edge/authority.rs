//! Authority out of the environment that the process was started with, looked at once.
//! Nothing else in the program reads these variables, and their values never leave here.

use std::sync::OnceLock;

use crate::pass::authority::{
    Authority, AuthoritySource, BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE, OVERRIDE_VARIABLE, grants,
};

static AT_START: OnceLock<Authority> = OnceLock::new();

/// Looks at the environment; the first call counts, and `main` makes it before anything
/// else. What the environment becomes later changes nothing.
pub fn look() -> Authority {
    *AT_START.get_or_init(|| Authority {
        override_restart: granted(OVERRIDE_VARIABLE),
        break_glass: granted(BREAK_GLASS_VARIABLE),
        maintenance: granted(MAINTENANCE_VARIABLE),
        source: AuthoritySource::CallerEnvironment,
    })
}

/// The authority of this process. `source` says what kind of process this is: one
/// that its caller just started, or a server that was there before its caller.
pub fn read(source: AuthoritySource) -> Authority {
    Authority { source, ..look() }
}

/// A value that is no text is not one that an operator set on purpose.
fn granted(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| grants(&value))
}
