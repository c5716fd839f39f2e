-- `harness editors` wrote this file; --remove takes it away.
do
  local program =
"{program}"
  local root = vim.fn.getcwd()
  -- A list of words, not a line for a shell: what is typed reaches harness as it is.
  local function harness(words)
    vim.cmd("botright new")
    if vim.fn.has("nvim-0.11") == 1 then
      vim.fn.jobstart(words, { term = true, cwd = root })
    else
      vim.fn.termopen(words, { cwd = root })
    end
    vim.cmd("startinsert")
  end
  local command = vim.api.nvim_create_user_command
  command("HarnessBrief", function() harness({ program, "brief" }) end, {})
  command("HarnessAsk", function(call) harness({ program, "ask", "--", call.args }) end, { nargs = "+" })
  command("HarnessRun", function(call) harness({ program, "run", "--dry-run", "--", call.args }) end, { nargs = "+" })
  command("HarnessServe", function() harness({ program, "serve" }) end, {})
  -- An agent in CodeCompanion, told of it when it is wanted: the plugin may be loaded late.
  command("HarnessChat", function()
    local found, companion = pcall(require, "codecompanion.config")
    if not found then
      return vim.notify("HarnessChat needs the plugin CodeCompanion", vim.log.levels.WARN)
    end
    companion.adapters.acp.harness = {
      name = "harness",
      formatted_name = "harness",
      type = "acp",
      roles = { llm = "assistant", user = "user" },
      opts = {},
      commands = { default = { program, "acp" } },
      defaults = { mcpServers = {}, timeout = 20000 },
      parameters = {
        protocolVersion = 1,
        clientCapabilities = { fs = { readTextFile = true, writeTextFile = false } },
        clientInfo = { name = "CodeCompanion.nvim", version = "1" },
      },
      handlers = {
        setup = function() return true end,
        form_messages = function(...) return require("codecompanion.adapters.acp.helpers").form_messages(...) end,
        on_exit = function() end,
      },
    }
    vim.cmd("CodeCompanionChat adapter=harness")
  end, {})
end
