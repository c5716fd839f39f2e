"""One small change of the source for each promise of SECURITY.md that breaks it, and the test that has to see it.

A row is a promise, what the change does, the edits as (file, old text, new text), and the test: `CRATE TARGET NAME` for
cargo, where a name that ends in `tests` is a module, or a file of tests/python and a name for pytest. An old text stands
exactly once in its file. None of the changes harms the machine it is tried on: what gets through lies in folders and
processes of the test's own.
"""

AGENT = "crates/harness-agent/src/"
CODE = "crates/harness-code/src/"
HANDS = "crates/harness-hands/src/"
SERVER = "crates/harness/src/server/"
WALLS = "harness-hands --lib process::tests::the_walls_hold_against_every_attempt"

ROWS = [
    (1, "links on the way to a file are followed", [
        (HANDS + "door/folder_unix.rs", "            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;", "            ResolveFlags::empty();"),
    ], "harness-hands --test=changes a_folder_that_is_swapped_for_a_link_leads_nowhere"),
    (1, "`~/` is a folder of the project", [
        (HANDS + "door/request.rs", "    if is_home {", "    if is_home && root.as_os_str().is_empty() {"),
    ], "harness-hands --lib door::request::tests"),
    (2, "a link is taken for what it leads to", [
        (HANDS + "door/folder_unix.rs", "rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)", "rustix::fs::statat(&self.fd, name, AtFlags::empty())"),
        (HANDS + "door/folder_unix.rs", "OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;", "OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;"),
    ], "harness-hands --lib transaction::tests::links_are_refused_and_hard_links_keep_their_bytes"),
    (3, "the scope is not looked at", [
        (HANDS + "door/mod.rs", "Some(scope) if !path.starts_with(scope) =>", "Some(scope) if scope.as_str().is_empty() =>"),
    ], "harness-hands --test=changes a_scope_is_a_wall"),
    (4, "protected files may change", [
        (HANDS + "transaction.rs", "        protected::check(&self.whole, path, &self.named)\n", "        Ok(())\n"),
    ], "harness-hands --lib transaction::tests::protected_and_foreign_paths_are_refused"),
    (5, "a file gets its name before its bytes", [
        (HANDS + "write.rs", "fill(&file, bytes, place).and_then(|()| settle(folder, name, temp, place));", "settle(folder, name, temp, place).and_then(|()| fill(&file, bytes, place));"),
    ], "harness-hands --lib transaction::tests::a_kill_at_any_step_leaves_whole_files_and_can_be_undone"),
    (5, "the same, killed at system calls", [
        (HANDS + "write.rs", "fill(&file, bytes, place).and_then(|()| settle(folder, name, temp, place));", "settle(folder, name, temp, place).and_then(|()| fill(&file, bytes, place));"),
    ], "harness-hands --test=killed a_kill_at_any_system_call_leaves_whole_files_and_can_be_undone"),
    (5, "the same, on a full disk", [
        (HANDS + "write.rs", "fill(&file, bytes, place).and_then(|()| settle(folder, name, temp, place));", "settle(folder, name, temp, place).and_then(|()| fill(&file, bytes, place));"),
    ], "harness-hands --test=disk a_full_and_a_read_only_disk_leave_whole_files"),
    (6, "the first name for a copy is always taken", [
        (HANDS + "backup.rs", "    if folder.metadata(&plain)?.is_none() {", "    if folder.metadata(&plain).is_ok() {"),
    ], "harness-hands --lib transaction::tests::a_backup_that_is_there_is_never_overwritten"),
    (7, "an undo overwrites what somebody changed since", [
        (HANDS + "undo.rs", "if touched_since && force == Force::Never {", "if touched_since && force == Force::Never && backup {"),
    ], "harness-hands --lib transaction::tests::a_file_the_user_changed_since_is_not_overwritten"),
    (8, "a lock that somebody holds is taken", [
        (HANDS + "lock.rs", "Err(TryLockError::WouldBlock) => return Ok(None),", "Err(TryLockError::WouldBlock) => {}"),
    ], "harness-hands --lib lock::tests"),
    (9, "devices, pipes and sockets are opened", [
        (HANDS + "door/mod.rs", "Kind::Special => Err(Trespass::special(path).into()),", "Kind::Special => Ok(()),"),
    ], "harness-hands --test=changes odd_files_are_refused_without_harm"),
    (10, "a read-only project gives out a writer", [
        (HANDS + "permit.rs", "let may = access == Access::Writing;", "let may = access == access;"),
    ], "harness-hands --test=changes a_read_only_project_gives_nothing_out_and_leaves_nothing"),
    (11, "paths of a journal are taken as they are", [
        ("crates/harness-code/src/path.rs", '#[serde(try_from = "String", into = "String")]', "#[serde(transparent)]"),
    ], "harness-hands --test=changes a_hostile_journal_reaches_nothing_outside"),
    (12, "everything may be written", [
        (HANDS + "process/sandbox/places.rs", 'add(b"/dev/shm", Allow::Change)?;', 'add(b"/", Allow::Change)?;'),
    ], WALLS),
    (13, "the table of passwords is a plain table", [
        (HANDS + "process/sandbox/places.rs", '    shadow shadow-', '    not-shadow shadow-'),
    ], "harness-hands --lib process::tests::the_table_of_passwords_is_closed"),
    (13, "everything may be read", [
        (HANDS + "process/sandbox/places.rs", 'add(b"/dev/shm", Allow::Change)?;', 'add(b"/", Allow::Read)?;'),
    ], WALLS),
    (14, "the network is the machine's own", [
        (HANDS + "process/sandbox/namespace.rs", "            flags |= UnshareFlags::NEWNET;\n", ""),
    ], WALLS),
    (14, "internet sockets are allowed without a network of their own", [
        (HANDS + "process/sandbox/seccomp.rs", "let mut families = vec![libc::AF_UNIX];", "let mut families = vec![libc::AF_UNIX, libc::AF_INET];"),
    ], WALLS),
    (15, "every variable is handed on", [
        (HANDS + "process/environment.rs", 'is_among(KEPT, &name) || is_among(KEPT_ON_WINDOWS, &name)', '!name.is_empty() || is_among(KEPT, &name) || is_among(KEPT_ON_WINDOWS, &name)'),
    ], "harness-hands --lib process::tests::no_secret_of_the_environment_is_handed_on"),
    (15, "the agent of the user's keys is handed on", [
        (HANDS + "process/environment.rs", 'DEVELOPER_DIR SDKROOT CI";', 'DEVELOPER_DIR SDKROOT CI SSH_AUTH_SOCK";'),
    ], "harness-hands --test=suite_hostile keys_are_not_read"),
    (16, "what was changed in `.git` stays changed", [
        (HANDS + "process/unchanged.rs", "Before::Seen(before) => self.put_back(before),", "Before::Seen(_) => Vec::new(),"),
    ], "harness-hands --lib process::tests::git_comes_out_unchanged_behind_any_walls"),
    (16, "`.git` is writable in namespaces", [
        (HANDS + "process/sandbox/namespace.rs", "let mut frozen = texts(&confinement.unchanged);", "let mut frozen = texts(&[]);"),
    ], WALLS),
    (17, "daemons are left alone when the harness is killed", [
        (HANDS + "process/linux.rs", "        if cut && !has_own_table {", "        if cut && has_own_table {"),
    ], "harness-hands --lib process::ending_tests::the_tree_ends_when_the_harness_is_killed"),
    (18, "signals leave the walls", [
        (HANDS + "process/sandbox/landlock.rs", "const SCOPES: u64 = 1 | 2;", "const SCOPES: u64 = 1;"),
    ], WALLS),
    (18, "the process table is the machine's own", [
        (HANDS + "process/sandbox/namespace.rs", "UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC", "UnshareFlags::NEWNS | UnshareFlags::NEWIPC"),
    ], WALLS),
    (18, "the filter forbids only mounting", [
        (HANDS + "process/sandbox/seccomp.rs", "        for call in FORBIDDEN {", "        for call in &FORBIDDEN[..2] {"),
    ], "harness-hands --lib process::sandbox::seccomp::tests::every_call_on_the_list_is_refused_by_the_kernel"),
    (18, "words can be typed into somebody's terminal", [
        (HANDS + "process/sandbox/seccomp.rs", "jump(EQUAL, libc::TIOCSTI as u32, 1, 0),", "jump(EQUAL, 0, 1, 0),"),
    ], "harness-hands --lib process::sandbox::seccomp::tests::every_call_on_the_list_is_refused_by_the_kernel"),
    (19, "a hundred times the output is kept", [
        (HANDS + "process/output.rs", "self.tail.len().saturating_sub(limit - half);", "self.tail.len().saturating_sub(100 * limit - half);"),
    ], "harness-hands --lib process::tests::a_flood_of_output_is_bounded"),
    (19, "a stop is seen twice a second", [
        (HANDS + "process/mod.rs", "const LOOK_AGAIN: Duration = Duration::from_millis(50);", "const LOOK_AGAIN: Duration = Duration::from_millis(500);"),
    ], "harness-hands --lib process::tests::a_program_is_stopped_within_200_milliseconds"),
    (20, "programs of the project are started", [
        (HANDS + "process/runner.rs", "        if inside && !in_environment {", "        if inside && in_environment {"),
    ], "harness-hands --lib process::runner::tests"),
    (21, "no report is a whole report", [
        (HANDS + "suite/mod.rs", "Ended::Exit(_) | Ended::Signal(_) | Ended::Lost => Outcome::NoReport,", "Ended::Exit(_) | Ended::Signal(_) | Ended::Lost => Outcome::Ran,"),
    ], "harness-hands --test=suite_python an_early_exit_is_no_pass"),
    (21, "no tests are a pass", [
        (HANDS + "suite/mod.rs", "        self.outcome = if judged == 0 {", "        self.outcome = if judged == u32::MAX {"),
    ], "harness-hands --test=suite_python no_tests_are_no_pass"),
    (22, "an option is the name of a test", [
        (HANDS + "suite/select.rs", "let is_option = path.as_str().starts_with('-');", "let is_option = false;"),
    ], "harness-hands --lib suite::select::tests::what_is_no_test_gets_nowhere"),
    (23, "only root gets namespaces", [
        (HANDS + "process/sandbox/namespace.rs", "(!user.is_root() || !has_admin).then(", "(user.is_root() && !has_admin).then("),
    ], "harness-hands --lib process::tests::the_walls_hold_for_an_ordinary_user"),
    (24, "code on trial runs in the project itself", [
        (HANDS + "process/runner.rs", "Some(overlay) => (self.project.clone(), Version::Mounted(overlay.clone())),", "Some(_) => (self.project.clone(), Version::Own),"),
    ], "harness-hands --test=trial a_trial_sees_its_own_files_and_leaves_the_project_alone"),
    (24, "below /tmp a copy's project can be changed", [
        (HANDS + "process/sandbox/namespace.rs", "        frozen.extend(texts(&read));\n", "        drop(read);\n"),
    ], "test_unlucky.py test_what_tests_leave_behind_is_not_in_the_project"),
    (25, "any `Host` is this machine", [
        (SERVER + "doorkeeper.rs", "    if !host_is_here {", "    if !host_is_here && hosts.is_empty() {"),
    ], "test_server.py test_what_a_page_can_cause_is_refused"),
    (26, "a server that may not write runs", [
        (SERVER + "work.rs", "        match server.options().allow_writes {\n            true => Ok(MayWrite),", "        match server.options().allow_writes || server.port != 0 {\n            true => Ok(MayWrite),"),
    ], "test_server_read_only.py test_no_byte_changes_and_no_trace_is_left"),
    (26, "a read-only server leaves records", [
        (SERVER + "tasks.rs", "    options.keep_no_record |= !server.options().allow_writes && options.record.is_none();", "    options.allow_writes |= server.port != 0;"),
    ], "test_server_read_only.py test_no_program_is_started_and_nothing_is_opened_for_writing"),
    (27, "bodies of a gigabyte are read", [
        (SERVER + "body.rs", "const MOST_BYTES: usize = 1024 * 1024;", "const MOST_BYTES: usize = 1024 * 1024 * 1024;"),
    ], "test_server_wire.py test_sizes"),
    (28, "a run goes on when its client is gone", [
        (SERVER + "work.rs", "        self.cancel.stop();\n        locked(&self.queue.running)", "        locked(&self.queue.running)"),
    ], "test_server_leaving.py test_an_answer_that_comes_too_late_changes_nothing"),
    (29, "what a task says is markup", [
        (SERVER + "page.rs", "'<' => html.push_str(\"&lt;\"),", "'<' => html.push('<'),"),
    ], "harness --lib server::page::tests"),
    (29, "any page of this origin may do everything", [
        (SERVER + "doorkeeper.rs", "|| !from_a_page ||", "|| !from_a_page || given.is_none() ||"),
    ], "test_server_page.py test_a_page_without_the_token_does_nothing"),
    (30, "any file is a settings file", [
        (HANDS + "settings.rs", "    if is_among(FILES, path.as_str()) {", "    if is_among(FILES, path.as_str()) || !path.as_str().is_empty() {"),
    ], "harness-hands --lib settings::tests"),
    (31, "files with credentials are shown to everybody", [
        (CODE + "hidden.rs", "let secret = self.credentials && holds_credentials(path) && !self.named.contains(path);", "let secret = self.credentials && self.named.contains(path) && holds_credentials(path);"),
    ], "harness-agent --test=hidden a_model_elsewhere_is_shown_no_credentials"),
    (32, "what the user lists is shown", [
        (CODE + "hidden.rs", "Match::Ignore(rule) => Some(Why::Listed(rule.original().to_owned())),", "Match::Ignore(rule) => rule.is_whitelist().then(|| Why::Listed(rule.original().to_owned())),"),
    ], "test_never_show.py test_what_is_listed_is_in_no_prompt_search_or_map"),
    (33, "header lines hide a key", [
        (AGENT + "secret/pem.rs", "    let mut at = headers_end(bytes);", "    let mut at = headers_end(&bytes[..0]);"),
    ], "harness-agent --lib secret::tests"),
]
