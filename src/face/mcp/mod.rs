//! `mcp`: serves the passes to agents, as tools over standard input and output.
//!
//! This is the daemon of this project, and it is held to its own rules: it ends when
//! standard input ends or nobody reads its answers, and never before; it starts nothing
//! and signals nobody. Standard output carries the protocol alone; notes go to standard
//! error. Authority is what the environment granted at the start, and no call can change it.

mod commands;
mod evidence;
mod frames;
mod ids;
mod leases;
mod open;
mod opening;
mod paths;
mod pipes;
mod presence;
mod restart;
mod server;
mod sources;
mod table;
mod world;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::cli::Cli;
use super::{Failure, Outcome, output};
use open::Open;
use opening::Patient;
use presence::Presence;
use server::Server;
use world::World;

pub use crate::face::attempt::{Attempt, PathEntry};
pub use paths::PathList;

/// The stack of a thread that answers calls, in bytes: as much as a command has on its main thread.
const STACK: usize = 8 << 20;
/// How long a thread waits for its next call. One that ended would be followed by another with a memory
/// of its own, so none ends while the server runs.
const IDLE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Serve the passes as MCP tools on standard input and output, until standard input ends.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// The store of the registry and the markers, made if it is not there; else the configuration's.
    #[arg(long, value_name = "DB")]
    pub store: Option<PathBuf>,
    /// The project that is served; the working folder if not given.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// Runs the server until standard input ends.
pub fn run(args: &McpArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let world = Arc::new(World::at_start(args, cli)?);
    let threads = |error| Failure::new(format!("the server cannot start its threads: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        // Those that answer calls, and one that tells the registry whatever they do.
        .max_blocking_threads(server::AT_ONCE + 1)
        .thread_keep_alive(IDLE)
        .thread_stack_size(STACK)
        .enable_time()
        .build()
        .map_err(threads)?;
    let open = Open::default();
    let (pipes, ended) = pipes::standard(open.clone()).map_err(threads)?;
    runtime.block_on(serve(world, open, pipes, ended));
    // Whoever asked is gone: an unfinished call must not keep the process.
    runtime.shutdown_background();
    Ok(Outcome::Clean)
}

async fn serve(world: Arc<World>, open: Open, pipes: pipes::Pipes, mut ended: pipes::Ended) {
    let presence = Presence::begin(Arc::clone(&world)).await;
    match Server::new(world, open).serve(Patient::new(pipes)).await {
        Ok(running) => {
            let _ = running.waiting().await;
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => output::warn(&format!("the session could not begin: {error}")),
    }
    // Where the session ended before its host did, the host ends the server.
    ended.wait().await;
    presence.end().await;
}
