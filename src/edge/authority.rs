//! Authority out of the environment that the process was started with. Values are
//! looked at and forgotten; nothing else in the program reads these variables.

use crate::pass::authority::{
    Authority, AuthoritySource, BREAK_GLASS_VARIABLE, MAINTENANCE_VARIABLE, OVERRIDE_VARIABLE, grants,
};

/// Reads the authority of this process. `source` says what kind of process this is: one
/// that its caller just started, or a server that was there before its caller.
pub fn read(source: AuthoritySource) -> Authority {
    // A value that is no text is not one that an operator set on purpose.
    let granted = |variable: &str| std::env::var(variable).is_ok_and(|value| grants(&value));
    Authority {
        override_restart: granted(OVERRIDE_VARIABLE),
        break_glass: granted(BREAK_GLASS_VARIABLE),
        maintenance: granted(MAINTENANCE_VARIABLE),
        source,
    }
}
