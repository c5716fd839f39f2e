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
end
