"""An entry of the register that came with its own decided results is marked as seen."""

import subprocess

import nbformat
import pytest
from conftest import REPOSITORY

from lib.book.run.project import Project
from lib.book.verdicts import register as registry
from lib.book.verdicts import scales
from lib.book.verdicts.chapter_claims import claims_in


def decided_settings(commit, chapter):
    """Ids of the settings that the stored outputs of a chapter decide, in a commit."""
    command = ["git", "-C", REPOSITORY, "show", f"{commit}:chapters/{chapter}.ipynb"]
    process = subprocess.run(command, capture_output=True, encoding="utf-8")
    if process.returncode:  # there was no such chapter
        return set()
    ids = set()
    for claim in claims_in(nbformat.reads(process.stdout, 4)):
        for setting in claim.get("settings", [claim]):  # a claim was a setting once
            if setting["verdict"] != "too little data" and not claim.get("exact"):
                ids.add(setting["id"])
    return ids


@pytest.mark.slow
def test_no_entry_was_committed_with_results_of_its_own_unless_it_says_so():
    project = Project(REPOSITORY)
    if registry.history_gap(project):
        pytest.skip("the history is not whole")
    entries = registry.read_entries(project)
    parameters = scales.claim_parameters(project, list(entries))
    histories = registry.setting_histories(project, parameters)
    decided = {}  # by commit and chapter
    n_checked = 0
    for claim, entry in entries.items():
        chapter = parameters[claim].chapter
        for id in entry["settings"]:
            history = histories.get(id)
            if history is None or history.is_worded_after:
                continue
            commit = history.commits[history.since["rule"]].split()[-1]
            if (commit, chapter) not in decided:
                decided[commit, chapter] = decided_settings(commit, chapter)
            assert id not in decided[commit, chapter], f"{id}, commit {commit}"
            n_checked += 1
    assert n_checked > 100
