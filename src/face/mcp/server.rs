//! The protocol's side: lists the table, and runs a call on a thread of its own.
//!
//! Whatever goes wrong in a tool is an error result. A few calls run at once, the others
//! wait; a call that is cancelled while it waits is never run.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Semaphore;

use super::open::Open;
use super::table::{self, Answer, Run, Tool};
use super::world::World;
use crate::data::suggest;

/// How many places there are for calls that run at once. More would only hold more memory: a scan uses
/// every core by itself.
pub(super) const AT_ONCE: usize = 4;

const INSTRUCTIONS: &str = "Before you run a shell command that ends, stops or restarts a process, ask `assess_command`; run \
     it only if the verdict is `clean`. Never restart or kill an MCP server: to pick up a change, ask `request_restart`, \
     which only says what would be authorised, and tell the person to reconnect from the host. If such a command was run \
     all the same, tell it with `record_kill_attempt`. After a change to code, scripts, documents or host files, ask \
     `check_sources`.";

/// Answers the protocol's requests.
#[derive(Clone)]
pub(super) struct Server {
    world: Arc<World>,
    places: Arc<Semaphore>,
    open: Open,
}

impl Server {
    pub fn new(world: Arc<World>, open: Open) -> Server {
        Server { world, places: Arc::new(Semaphore::new(AT_ONCE)), open }
    }

    /// Runs a tool where it may block and even fail badly.
    async fn answered(&self, run: Run, alone: bool, arguments: JsonObject) -> CallToolResult {
        let places = if alone { AT_ONCE as u32 } else { 1 };
        let Ok(place) = Arc::clone(&self.places).acquire_many_owned(places).await else {
            return refusal("the server is ending".to_owned());
        };
        let world = Arc::clone(&self.world);
        let work = tokio::task::spawn_blocking(move || {
            let answer = run(&world, arguments).map_err(crate::face::Failure::text);
            drop(place);
            answer
        });
        match work.await {
            Ok(Ok(Answer::Report(value))) => CallToolResult::structured(value),
            Ok(Ok(Answer::Refused(value))) => CallToolResult::structured_error(value),
            Ok(Err(why)) => refusal(why),
            Err(_) => refusal(
                "this call met a fault of restartlint itself and has no answer; take it as denied, and report it with \
                 the server's standard error"
                    .to_owned(),
            ),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("restartlint", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(table::TABLE.into_iter().map(listed).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        table::find(name).map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = table::find(&request.name) else {
            return Err(ErrorData::invalid_params(unknown(&request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        // The answer of a cancelled call is left out.
        tokio::select! {
            answer = self.answered(tool.run, tool.alone, arguments) => Ok(answer.into()),
            () = self.open.cancelled(&context.id) => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(not_served(&request.method))
    }
}

/// What to say of a method that is not served, or of one that is and whose parameters are of another shape.
fn not_served(method: &str) -> ErrorData {
    if method == "tools/call" {
        let why =
            "the parameters of `tools/call` are an object with `name`, a text, and `arguments`, an object";
        return ErrorData::invalid_params(why, None);
    }
    let served = ["initialize", "ping", "tools/call", "tools/list"];
    let shown: String = method.chars().take(100).collect();
    let shown = crate::base::terminal::one_line(&shown);
    let (code, why) = match served.contains(&method) {
        true => {
            (ErrorCode::INVALID_PARAMS, format!("the parameters of `{shown}` are not those of the protocol"))
        }
        false => (
            ErrorCode::METHOD_NOT_FOUND,
            format!("the method `{shown}` is not served; there are {}", served.join(", ")),
        ),
    };
    ErrorData::new(code, why, None)
}

fn refusal(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn listed(tool: &Tool) -> Listed {
    Listed::new(tool.name, tool.description, Arc::new((tool.input)()))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new((tool.output)()))
        .with_annotations(
            ToolAnnotations::with_title(tool.title)
                .read_only(tool.read_only)
                .destructive(false)
                .open_world(false),
        )
}

fn unknown(name: &str) -> String {
    let names = table::TABLE.map(|tool| tool.name);
    let near = suggest::did_you_mean(name, names);
    let help = if near.is_empty() { format!("there are {}", names.join(", ")) } else { near };
    let shown: String = name.chars().take(100).collect();
    format!("no tool is called `{}`; {help}", crate::base::terminal::one_line(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::face::cli::Cli;
    use crate::face::mcp::McpArgs;
    use clap::Parser;

    #[tokio::test]
    async fn a_panic_is_an_error_result_and_gives_its_place_back() {
        let cli = Cli::try_parse_from(["restartlint", "mcp"]).unwrap();
        let world = World::at_start(&McpArgs { store: None, root: None }, &cli).unwrap();
        let server = Server::new(Arc::new(world), Open::default());
        for _ in 0..2 * AT_ONCE {
            let answer = server.answered(|_, _| panic!("a fault"), false, JsonObject::new()).await;
            assert_eq!(answer.is_error, Some(true));
            assert_eq!(answer.structured_content, None);
        }
        // A scan takes every place, and gives each back.
        let empty: Run = |_, _| Ok(Answer::Report(serde_json::json!({})));
        let answer = server.answered(empty, true, JsonObject::new()).await;
        assert_eq!(answer.is_error, Some(false));
        let answer = server.answered(empty, false, JsonObject::new()).await;
        assert_eq!(answer.is_error, Some(false));
    }
}
