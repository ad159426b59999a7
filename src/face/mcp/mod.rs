//! `mcp`: serves the passes to agents, as tools over standard input and output.
//!
//! This is the daemon of this project, and it is held to its own rules: it ends when
//! standard input ends and never before, it starts nothing and signals nobody. Standard
//! output carries the protocol alone; notes go to standard error. Authority is what the
//! environment granted at the start, and no call can change it.

mod commands;
mod evidence;
mod leases;
mod opening;
mod paths;
mod presence;
mod restart;
mod server;
mod sources;
mod table;
mod world;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;

use super::cli::Cli;
use super::{Failure, Outcome, output};
use opening::Patient;
use presence::Presence;
use server::Server;
use world::World;

pub use crate::face::attempt::{Attempt, PathEntry};
pub use paths::PathList;

/// The stack of a thread that answers calls, in bytes: as much as a command has on its main thread.
const STACK: usize = 8 * 1024 * 1024;

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
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("the server cannot start its threads: {error}")))?;
    runtime.block_on(serve(world));
    // Whoever asked is gone: an unfinished call must not keep the process.
    runtime.shutdown_background();
    Ok(Outcome::Clean)
}

async fn serve(world: Arc<World>) {
    let transport = Patient::new(AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout()));
    let presence = Presence::begin(Arc::clone(&world)).await;
    let ended = match Server::new(world).serve(transport).await {
        Ok(running) => matches!(running.waiting().await, Ok(QuitReason::Closed)),
        Err(ServerInitializeError::ConnectionClosed(_)) => true,
        Err(error) => {
            output::warn(&format!("the session could not begin: {error}"));
            false
        }
    };
    if !ended {
        // Nobody can be answered any more, and the host has not closed its end: wait for that.
        let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
    }
    presence.end().await;
}
