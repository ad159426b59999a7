//! What each effect means to a person: what it is, why it hurts a stdio daemon, what to
//! do instead.

use crate::base::effect::Effect;

/// An effect in words.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// What it does.
    pub meaning: &'static str,
    /// Why it hurts.
    pub why: &'static str,
    /// The rule that finds it in the daemon's reach.
    pub rule: &'static str,
    /// What to do instead.
    pub instead: &'static str,
}

/// The effect in words.
pub fn about(effect: Effect) -> About {
    match effect {
        Effect::Replace => About {
            meaning: "The process image is replaced.",
            why: "The host still holds the old pipes: the new program reads the middle of a stream that it never opened.",
            rule: "RL101 daemon-self-replacement",
            instead: "report that new code is there, fail closed, and let the host start a new process.",
        },
        Effect::Terminate => About {
            meaning: "The process ends without unwinding.",
            why: "Answers in flight are lost, buffers are not written, and nobody asked the people whose work it was.",
            rule: "RL102 daemon-self-termination",
            instead: "answer with an error, finish what is in flight, and return from `main`.",
        },
        Effect::Exit => About {
            meaning: "The process ends by the language's ordinary exit.",
            why: "Away from the entry point it ends every session for the sake of one.",
            rule: "RL108 daemon-exit",
            instead: "raise an error that the entry point turns into an exit, or register a `guarded_fail_closed` path.",
        },
        Effect::Kill => About {
            meaning: "Another process is signalled, by pid or by name.",
            why: "A pid may have been given to somebody else, and a name may match the daemon of another session.",
            rule: "RL103 daemon-kill",
            instead: "end only your own children, through their handle.",
        },
        Effect::Respawn => About {
            meaning: "A new copy of this program is started.",
            why: "The copy does not get the host's pipes, and two of them answer for one.",
            rule: "RL104 daemon-respawn",
            instead: "report that a restart is needed and let the host do it.",
        },
        Effect::Reload => About {
            meaning: "In-process or hot reload is switched on.",
            why: "Code is exchanged under running requests, or the process is restarted whenever a file is saved.",
            rule: "RL105 daemon-hot-reload",
            instead: "switch it off where the daemon runs; report stale code instead.",
        },
        Effect::Touch => About {
            meaning: "A file is touched so that a host reloads.",
            why: "It restarts the daemon from inside without looking like a restart.",
            rule: "RL106 daemon-reload-trigger",
            instead: "report that the configuration is stale.",
        },
        Effect::Supervise => About {
            meaning: "A supervisor or the host is asked to stop or restart something.",
            why: "The supervisor does not know whose work is in flight.",
            rule: "RL107 daemon-supervisor-restart",
            instead: "say which unit needs a restart and who may do it.",
        },
    }
}
