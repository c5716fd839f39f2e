"""A test that is left out is a hole that nobody sees: under CI it fails, unless its platform is known to lack what it needs."""

import os
import sys

import pytest

# What may be left out under CI, by platform: a test, or a file of them.
MAY_SKIP = {
    # A browser and editors are no part of a machine that builds programs.
    # Root, which builds in containers, may write in any folder.
    "linux": {"test_server_browser.py", "test_editors_live.py", "test_ci.py::test_a_folder_without_permission_is_told_before_anything_is_done"},
    "darwin": {
        "test_server_browser.py",
        "test_docs.py::test_a_page_shows_what_happens",
        "test_docs.py::test_a_page_that_lies_is_told",
        "test_docs.py::test_the_recording_is_that_of_this_program",
        "test_editors_live.py",
        "test_server_memory.py",
        "test_options.py::test_a_path_that_is_not_text_is_used_as_it_is",
        "test_real_model.py::test_the_on_device_engine_answers_and_leaves_nothing",
        "test_real_model.py::test_however_harness_ends_its_runtime_ends_too",
        "test_server_read_only.py::test_no_program_is_started_and_nothing_is_opened_for_writing",
    },
    "win32": {
        "test_server_browser.py",
        "test_docs.py::test_a_page_shows_what_happens",
        "test_docs.py::test_a_page_that_lies_is_told",
        "test_docs.py::test_the_recording_is_that_of_this_program",
        "test_editors_live.py",
        "test_install.py",
        "test_search.py",
        "test_fork.py",
        "test_server_memory.py",
        "test_adversary.py::test_ok_is_right_and_a_failed_run_leaves_no_trace",
        "test_adversary.py::test_what_they_came_to",
        "test_agent.py::test_ctrl_c_stops_a_run_with_files_whole",
        "test_command_line.py::test_ctrl_c_stops_a_run_with_files_whole",
        "test_command_line.py::test_a_narrow_terminal",
        "test_editors.py::test_nothing_is_written_through_a_link",
        "test_options.py::test_a_path_that_is_not_text_is_used_as_it_is",
        "test_examples.py::test_many_repositories_are_taken_up_where_they_were_stopped",
        "test_program.py::test_another_program_of_this_name_is_not_started",
        "test_program.py::test_a_word_that_is_not_utf_8_is_handled",
        "test_real_model.py::test_the_on_device_engine_answers_and_leaves_nothing",
        "test_real_model.py::test_however_harness_ends_its_runtime_ends_too",
        "test_release.py::test_archives_hold_what_packages_need_and_are_always_the_same",
        "test_scenarios.py::test_interrupted_scenario",
        "test_server.py::test_a_signal_ends_it_in_order",
        "test_server.py::test_a_signal_during_a_run_leaves_files_whole",
        "test_server.py::test_a_run_that_ends_in_time_is_answered_after_a_signal",
        "test_server_read_only.py::test_no_program_is_started_and_nothing_is_opened_for_writing",
    },
}


def may_skip(name):
    """Says whether a test may be left out here, by its id."""
    name = name.split("[")[0].rpartition("/")[2]
    return bool({name, name.split("::")[0]} & MAY_SKIP.get(sys.platform, set()))


def reason_of(report):
    """What the test said when it was left out."""
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


def failed_if_skipped(report):
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail") and not may_skip(report.nodeid):
        report.outcome, report.longrepr = "failed", f"left out under CI: {reason_of(report)}"
    return report


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.force_result(failed_if_skipped(outcome.get_result()))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    outcome.force_result(failed_if_skipped(outcome.get_result()))
