//! What a restart primitive does: the closed list of effects.

use serde::{Deserialize, Serialize};

/// What a primitive does to a process. The list is closed: rules, inventory and
/// output formats know exactly these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The process image is replaced (`execve(2)` and its wrappers).
    Replace,
    /// This process ends without unwinding, or signals itself.
    Terminate,
    /// This process ends by the language's ordinary exit.
    Exit,
    /// Another process is signalled, by pid or by name.
    Kill,
    /// A new copy of this program is started.
    Respawn,
    /// In-process or hot reload is switched on.
    Reload,
    /// A file is touched so that a host reloads.
    Touch,
    /// A supervisor or the host is asked to stop or restart something.
    Supervise,
}

impl Effect {
    /// All effects, in the order of the documentation.
    pub const ALL: [Effect; 8] = [
        Effect::Replace,
        Effect::Terminate,
        Effect::Exit,
        Effect::Kill,
        Effect::Respawn,
        Effect::Reload,
        Effect::Touch,
        Effect::Supervise,
    ];

    /// The name used in catalogues, inventories and output.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Replace => "replace",
            Effect::Terminate => "terminate",
            Effect::Exit => "exit",
            Effect::Kill => "kill",
            Effect::Respawn => "respawn",
            Effect::Reload => "reload",
            Effect::Touch => "touch",
            Effect::Supervise => "supervise",
        }
    }

    /// The effect of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Effect> {
        Effect::ALL.into_iter().find(|e| e.name() == name)
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
