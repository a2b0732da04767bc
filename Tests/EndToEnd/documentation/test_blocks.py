# Each code block of the pages for newcomers is run by a test. A block that no test can run has its reason here.

import pytest

from harness import ROOT
from fences import fenced

#: The blocks of each page in their order: the beginning of a block, and its test or the reason why it has none.
BLOCKS = {
    "README.md": [
        (" curl, a browser", "not run: a picture"),
        ("apt-get update", "test_readme.py::test_the_first_command_installs_what_a_build_needs_and_runs_a_product"),
        ("Tests/run", "not run: it runs this test"),
        ("$ T=", "test_readme.py::test_the_readmes_session_with_curl_goes_as_it_shows"),
        ("$ curl $T/state", "test_readme.py::test_the_readmes_session_with_curl_goes_as_it_shows"),
        ("// swift-tools-version", "test_readme.py::test_the_readmes_package_is_one"),
        ("import Rivulet", "test_readme.py::test_the_readmes_app_runs_as_it_shows"),
        ("$ swift run votes", "test_readme.py::test_the_readmes_app_runs_as_it_shows"),
    ],
    "Documentation/WritingApps.md": [
        ("// swift-tools-version", "test_writing_apps.py::test_the_package_of_the_page_is_one"),
        *[(beginning, "DocumentationTests.swift::every sample of a page is in a compiled file") for beginning in (
            "@ObservableState", "struct Trimmed", "@AppEvent", "struct VotesApp", "/// Serves", "@Test"
        )],
        ("import Rivulet", "test_writing_apps.py::test_the_page_shows_the_whole_counter_as_it_is"),
        ("$ S=", "test_writing_apps.py::test_the_session_of_the_page_goes_as_it_shows"),
        ("$ curl $S/state", "test_writing_apps.py::test_the_session_of_the_page_goes_as_it_shows"),
    ],
    "Documentation/Deploying.md": [
        ("swift build", "test_deploying.py::test_the_build_is_that_of_the_image"),
        ("docker build", "test_deploying.py::test_the_image_is_open_and_is_published_to_this_machine_only"),
        ("[Unit]", "test_deploying.py::test_the_server_of_the_unit_serves_through_a_proxy"),
        ("systemctl", "not run: it changes the machine's services"),
        ("$ rivulet doctor", "test_doctor.py::test_a_shipped_configuration_has_no_faults"),
        ("rivulet backup", "test_deploying.py::test_the_commands_for_data_succeed"),
        ("rivulet backup", "test_deploying.py::test_the_commands_for_data_succeed"),
    ],
    "Documentation/BrowserClient.md": [
        ("const stream", "test_browser_client.py::test_an_event_source_gets_values_and_changes_and_ends_with_bye"),
        ("const answer", "test_browser_client.py::test_a_fetch_dispatches"),
        ("import { connect }", "test_browser_client.py::test_rivulet_js_observes_and_dispatches"),
        ("import { connect }", "test_browser_client.py::test_rivulet_js_signs_in_with_the_function_of_the_page"),
        ("import { connect, RivuletError }", "test_browser_client.py::test_a_refusal_is_an_error_with_a_message"),
        ("import { connect }", "test_browser_client.py::test_a_folder_with_the_files_of_the_page_is_enough"),
        ("<script", "test_browser_client.py::test_a_folder_with_the_files_of_the_page_is_enough"),
    ],
    "CONTRIBUTING.md": [
        ("Tests/run\n", "not run: it runs this test"),
        ("Tests/run tools", "test_contributing.py::test_the_stages_of_the_page_run"),
        ("Tests/run module", "test_contributing.py::test_the_stages_of_the_page_run"),
        (".build/venv", "test_contributing.py::test_the_file_of_the_page_is_a_test"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("page", BLOCKS)
def test_every_block_is_run_or_has_its_reason(page):
    shown = [code for _, code in fenced(page)]
    assert len(shown) == len(BLOCKS[page]), page
    for code, (beginning, runner) in zip(shown, BLOCKS[page]):
        assert code.startswith(beginning), f"{page}: {code}"
        if runner.startswith("not run: "):
            continue
        file, name = runner.split("::")
        [source] = [path for path in (ROOT / "Tests").rglob(file) if ".build" not in path.parts]
        assert f"def {name}(" in source.read_text() or f"`{name}`" in source.read_text(), runner
