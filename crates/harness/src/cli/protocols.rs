//! `mcp`, `acp`: the commands that speak a protocol with the program that started them.

use crate::acp::{self, AcpOptions};
use crate::cli::args::{AcpArguments, McpArguments};
use crate::cli::settings;
use crate::exit::Exit;
use crate::mcp;
use crate::show::text::Complaint;

/// Serves the client that started us.
pub(super) fn mcp(arguments: &McpArguments) -> Result<Exit, Complaint> {
    let (folder, common) = (arguments.folder.as_deref(), &arguments.common);
    let mut options = settings::checked_options(folder, common, Some(&arguments.model))?;
    options.allow_writes = arguments.allow_writes;
    settings::warn_of_width(&options.project, common, options.allow_writes);
    mcp::serve(options)
}

/// Serves the editor that started us.
pub(super) fn acp(arguments: &AcpArguments) -> Result<Exit, Complaint> {
    let is_named = arguments.folder.is_some() || arguments.common.project.is_some();
    let (folder, model) = (arguments.folder.as_deref(), Some(&arguments.model));
    let options = settings::checked_options(folder, &arguments.common, model)?;
    let project = is_named.then(|| options.project.clone());
    acp::serve(AcpOptions {
        agent: options,
        project,
    })
}
