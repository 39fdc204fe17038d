"""Pages, records and downloads say of which commit they are, if it is known."""

import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pikepdf
import pytest
import yaml
from conftest import REPOSITORY, book, commit_all

from lib import trials
from lib.book.pages.book import Book
from lib.book.pages.runs import Run, commit_of, note_commit, provenance
from lib.book.paper import pdf
from lib.book.run import execution, history
from lib.book.run.history import CHANGED, NO_COMMIT
from lib.book.run.keys import read_execution_note, write_execution_note
from lib.book.run.project import BookError, Project
from lib.experiments import record as records
from lib.experiments.record import Record, lock_digest, read_record
from lib.trials.notes import KINDS

RECORDING = """
import pandas as pd
from lib.experiments.record import Record
record = Record("{chapter}", n_models=n_models)
frame = record.complete("models", pd.DataFrame({{"dataset": ["made"], "n": [n_models]}}), [])
"""


def run_git(folder, *arguments):
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def three_commits(project):
    """A project of three commits."""
    for message in ("first", "second", "third"):
        commit_all(project, message)
    return project


def without_git(monkeypatch, folder):
    """Let no program be found."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", str(folder))


class TestCommit:
    def test_a_commit_and_what_differs_from_it(self, project):
        assert history.commit(project) == NO_COMMIT
        commit = commit_all(project)
        assert re.fullmatch("[0-9a-f]{10}", commit)
        assert history.commit(project) == commit
        assert history.commit_markup(commit) == f"commit `{commit}`"
        (project.root / "data" / "größe = 1\n.csv").write_text("x\n")
        (project.root / "_toc.yml").write_text((project.root / "_toc.yml").read_text() + "\n")
        assert sorted(history.changes(project)) == ["_toc.yml", "data/größe = 1\n.csv"]
        assert history.commit(project) == commit + CHANGED
        assert history.commit_markup(commit + CHANGED) == f"commit `{commit}` + uncommitted changes"
        assert history.date_of(project, commit + CHANGED) == run_git(
            project.root, "show", "-s", "--format=%cs", "HEAD"
        )

    def test_new_files_count_whatever_git_status_shows_otherwise(self, project):
        commit_all(project)
        run_git(project.root, "config", "status.showUntrackedFiles", "no")
        (project.root / "chapters" / "new.md").touch()
        assert history.changes(project) == ["chapters/new.md"]

    def test_where_git_cannot_tell_nothing_is_called_unchanged(self, project):
        commit_all(project)
        (project.root / ".git" / "config").write_text("[status]\nshowUntrackedFiles = sometimes\n")
        with pytest.raises(BookError, match="`git status` fails in .*: repair the repository"):
            history.commit(project)

    def test_without_git_there_is_no_commit(self, project, monkeypatch, tmp_path):
        commit_all(project)
        without_git(monkeypatch, tmp_path / "nothing")
        assert history.commit(project) == NO_COMMIT
        executed = project.executed("quick", "cia/curves")
        assert commit_of(project, executed, NO_COMMIT) == NO_COMMIT
        run = Run("cia/curves", executed, {}, "profile quick", NO_COMMIT)
        assert "made: no commit;" in provenance(run, {})

    def test_a_tarball_inside_another_repository_has_no_commit(self, project):
        outer = project.root.parent
        run_git(outer, "init", "--quiet")
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        run_git(
            outer, *author, "commit", "--quiet", "--allow-empty", "--message", "another project"
        )
        assert history.commit(project) == NO_COMMIT
        with pytest.raises(BookError, match="no commit that results could be of"):
            history.require_commit(project, "data/recorded")
        run_git(outer, "add", project.root.name)
        run_git(outer, *author, "commit", "--quiet", "--message", "which takes the book in")
        assert history.commit(project) == run_git(outer, "rev-parse", "--short=10", "HEAD")
        (project.root / "data" / "numbers.csv").write_text("x\n2\n")
        assert history.changes(project) == ["data/numbers.csv"]

    def test_a_hook_of_another_repository_does_not_lend_its_commit(self, project, monkeypatch):
        commit = commit_all(project)
        monkeypatch.setenv("GIT_DIR", str(REPOSITORY / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(REPOSITORY))
        assert history.commit(project) == commit

    def test_what_came_before(self, three_commits):
        commits = run_git(three_commits.root, "rev-list", "--reverse", "HEAD").splitlines()
        first = commits[0]
        last = commits[2]
        author = ["-c", "user.name=A", "-c", "user.email=a@b"]
        run_git(
            three_commits.root, *author, "commit", "-q", "--amend", "--allow-empty", "-m", "again"
        )
        assert history.is_ancestor(three_commits, first)
        assert history.is_ancestor(three_commits, history.head(three_commits))
        for commit in (last, first + CHANGED, NO_COMMIT, "", "--help", "0123456789"):
            assert not history.is_ancestor(three_commits, commit)

    def test_work_during_which_the_commit_changes(self, project):
        assert history.commit_since(project, NO_COMMIT) == NO_COMMIT
        start = commit_all(project)
        assert history.commit_since(project, start) == start
        (project.root / "data" / "numbers.csv").write_text("x\n2\n")
        assert history.commit_since(project, start) == start + CHANGED
        commit_all(project)
        assert history.commit_since(project, start) == start + CHANGED
        assert history.commit_since(project, start + CHANGED) == start + CHANGED


class TestOfAChapter:
    @pytest.fixture
    def executed(self, project):
        path = project.executed("quick", "cia/curves")
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        return path

    def test_it_is_that_of_the_execution_if_nothing_differed_and_the_history_has_it(
        self, three_commits, executed
    ):
        commit_of_execution = history.commit(three_commits)
        write_execution_note(executed, "key", 1.0, commit_of_execution)
        head = commit_all(three_commits, "of a page")
        assert commit_of(three_commits, executed, head) == commit_of_execution
        assert commit_of(three_commits, executed, head + CHANGED) == commit_of_execution

    @pytest.mark.parametrize("commit", [NO_COMMIT, "0123456789", "{head}" + CHANGED])
    def test_otherwise_it_is_that_of_now_whose_sources_have_the_same_key(
        self, three_commits, executed, commit
    ):
        noted_commit = commit.format(head=history.head(three_commits))
        write_execution_note(executed, "key", 1.0, noted_commit)
        head = commit_all(three_commits, "what had been changed")
        assert commit_of(three_commits, executed, head) == head
        assert commit_of(three_commits, executed, head + CHANGED) == head + CHANGED

    @pytest.mark.parametrize("commit", [NO_COMMIT, "0123456789", "{head}" + CHANGED])
    def test_from_the_first_commit_on_that_has_its_sources_it_is_that_one(
        self, three_commits, executed, commit
    ):
        """A commit that has nothing to do with it changes no page."""
        noted_commit = commit.format(head=history.head(three_commits))
        write_execution_note(executed, "key", 1.0, noted_commit)
        note_commit(three_commits, "quick", history.head(three_commits) + CHANGED)
        assert read_execution_note(executed)["commit"] == noted_commit
        first = commit_all(three_commits, "what had been changed")
        note_commit(three_commits, "quick", first)
        second = commit_all(three_commits, "of a page")
        note_commit(three_commits, "quick", second)
        assert commit_of(three_commits, executed, second) == first
        note = read_execution_note(executed)
        assert (note["key"], note["seconds"]) == ("key", 1.0)

    def test_a_note_of_another_notebook_is_none(self, three_commits, executed):
        write_execution_note(executed, "key", 1.0, history.commit(three_commits))
        executed.write_text('{"cells": []}')
        assert commit_of(three_commits, executed, NO_COMMIT) == NO_COMMIT


def test_a_commit_that_is_made_while_pages_are_made_is_not_theirs(three_commits):
    pages = Book(three_commits, "quick")
    first = history.head(three_commits)
    commit_all(three_commits, "meanwhile")
    assert "How this page was made" in pages.texts["chapters/cia/curves"]
    assert pages.commit == first


@pytest.mark.slow
def test_pages_downloads_and_the_pdf_carry_the_commit_of_what_they_show(project, monkeypatch):
    """The chapter is of the first commit, its pages of the second, the PDF of the third."""
    first = commit_all(project)
    assert book(project, "build", "--profile", "quick").exit_code == 0
    (project.root / "chapters" / "intro.md").write_text("# Another introduction\n")
    second = commit_all(project)
    result = book(project, "build", "--profile", "quick")
    assert "cia/curves: reused" in result.output
    html = project.build_folder("quick") / "html"
    page = (html / "chapters" / "cia" / "curves.html").read_text(encoding="utf-8")
    assert re.findall(r"commit <code[^>]*>(?:<[^>]*>)*([0-9a-f]+)", page) == [first]
    download = html / "_sources" / "chapters" / "cia" / "curves.ipynb"
    assert f"commit `{first}`" in download.read_text(encoding="utf-8")
    claims = json.loads((html / "chapters" / "claims.json").read_text(encoding="utf-8"))
    assert claims["commit"] == second
    assert [claim["commit"] for claim in claims["claims"]] == [first]
    (project.root / "chapters" / "intro.md").write_text("# A third introduction\n")
    commit_all(project)
    monkeypatch.setattr(pdf, "find_browser", lambda: "chromium")
    monkeypatch.setattr(pdf, "print_page", lambda browser, page, target: pikepdf.new().save(target))
    pdf.make_pdf(project, "quick")
    volume = (project.build_folder("quick") / "pdf" / "book.html").read_text(encoding="utf-8")
    assert f'<p class="colophon">commit {second}, profile quick' in volume


@pytest.mark.slow
def test_a_build_without_git_ends_and_its_pages_have_no_commit(project, monkeypatch, tmp_path):
    commit_all(project)
    without_git(monkeypatch, tmp_path / "nothing")
    result = book(project, "build", "--profile", "quick")
    assert result.exit_code == 0, result.output
    html = project.build_folder("quick") / "html"
    page = (html / "chapters" / "cia" / "curves.html").read_text(encoding="utf-8")
    assert "How this page was made: no commit; " in page


def test_a_sweep_says_of_which_commit_each_run_is(project, monkeypatch):
    def execute(project, chapter, values, output, *_, **__):
        output.write_bytes(project.notebook(chapter).read_bytes())

    monkeypatch.setattr(execution, "execute", execute)
    folder = project.root / "_build" / "sweep" / "cia" / "curves"
    first = commit_all(project)
    assert book(project, "sweep", "cia/curves", "-p", "n_models", "2,3").exit_code == 0
    (project.root / "chapters" / "intro.md").write_text("# Another introduction\n")
    second = commit_all(project)
    assert "reused" in book(project, "sweep", "cia/curves", "-p", "n_models", "2,3,4").output
    commits = re.findall(r"<td>([0-9a-f]{10})</td>", (folder / "index.html").read_text())
    assert commits == [first, first, second]
    header = (folder / "claims.csv").read_text().splitlines()[0]
    assert header.endswith(",commit")


class TestRecording:
    @pytest.fixture
    def recording(self, project, write_chapter, monkeypatch):
        """A project whose chapter records its rows."""
        monkeypatch.delenv("BOOK_RESULTS", raising=False)
        write_chapter(project, "cia/curves", RECORDING.format(chapter="cia/curves"))
        return project

    def test_a_folder_without_a_commit_is_refused(self, recording):
        result = book(recording, "record", "cia/curves")
        assert result.exit_code == 1
        message = f"{recording.root} has no commit that results could be of"
        assert f"{message}: make a clone of the book's repository" in result.output
        assert not (recording.root / "_build" / "record").exists()

    def test_uncommitted_changes_are_refused_by_name(self, recording):
        commit = commit_all(recording)
        (recording.root / "data" / "numbers.csv").write_text("x\n2\n")
        (recording.root / "new.txt").touch()
        result = book(recording, "record", "cia/curves")
        assert result.exit_code == 1
        assert f"2 files differ from commit {commit}" in result.output
        assert "\n  data/numbers.csv\n  new.txt\n" in result.output
        assert not (recording.root / "_build" / "record").exists()

    def test_one_record_is_no_change_for_the_next(self, recording):
        commit = commit_all(recording)
        for _ in range(2):
            result = book(recording, "record", "cia/curves")
            assert result.exit_code == 0, result.output
        assert history.changes(recording) == ["data/recorded/cia/curves.csv.gz"]
        assert read_record(recording.record("cia/curves"))[0]["commit"] == commit

    def test_what_changes_while_it_runs_is_not_recorded(self, recording, monkeypatch):
        def execute(*_, record, **__):
            path = Path(record[0])
            path.parent.mkdir(parents=True)
            path.touch()
            (recording.root / "data" / "numbers.csv").write_text("x\n2\n")

        commit_all(recording)
        monkeypatch.setattr(execution, "execute", execute)
        result = book(recording, "record", "cia/curves")
        assert result.exit_code == 1
        assert "data/numbers.csv" in result.output
        assert not recording.record("cia/curves").exists()


class TestRecordedRows:
    FRAME = pd.DataFrame({"dataset": ["cleve", "iris"], "rows": [297, 150]})

    @pytest.fixture
    def notes(self, tmp_path, monkeypatch):
        """What is noted where rows of cleve, recorded with "a code", stand in."""
        monkeypatch.setattr(records, "FOLDER", tmp_path)
        (tmp_path / "elr").mkdir()
        with trials.use(record=(str(tmp_path / "elr" / "uci.csv.gz"), "1234abcdef", "a code")):
            Record("elr/uci", seed=1).complete("sets", self.FRAME, [])
        notes = []

        def write_note(kind, name, **details):
            notes.append((kind, name, details))

        monkeypatch.setattr(records, "write_note", write_note)
        return notes

    def note_on_page(self, code):
        """Return what the page says with this code; two experiments take rows of cleve."""
        with trials.use(code=code):
            record = Record("elr/uci", seed=1)
            for _ in range(2):
                record.complete("sets", self.FRAME[1:], ["cleve"])
            return record.note

    def outdated(self, notes):
        return [(name, details) for kind, name, details in notes if kind == "outdated"]

    @pytest.mark.parametrize("code", ["a code", None])
    def test_with_the_same_code_or_where_it_is_not_known_nothing_is_said(self, notes, code):
        assert "(commit 1234abcdef): the data of CLEVE" in self.note_on_page(code)
        assert self.outdated(notes) == []

    def test_other_code_is_said_on_the_page_and_once_by_the_build(self, notes):
        assert (
            "(commit 1234abcdef), recorded with other code: the data of CLEVE"
            in self.note_on_page("other")
        )
        details = {"names": "cleve", "differences": "other code"}
        assert self.outdated(notes) == [("elr/uci", details)]
        assert "recorded with other code" in KINDS["outdated"][1].format(**details)

    def test_other_packages(self, notes, monkeypatch):
        monkeypatch.setattr(records, "lock_digest", lambda: "another lock")
        assert ", recorded with other packages: the data" in self.note_on_page("a code")
        assert ", recorded with other code and other packages: the data" in self.note_on_page(
            "other"
        )

    def test_a_record_that_does_not_say_of_which_code_it_is_counts_as_of_other_code(
        self, notes, tmp_path
    ):
        path = tmp_path / "elr" / "uci.csv.gz"
        facts, _ = read_record(path)
        del facts["code"]
        rows = self.FRAME.astype(str).assign(experiment="sets")
        records.write(path, facts, rows)
        assert "recorded with other code" in self.note_on_page("a code")

    def test_rows_that_are_all_computed_need_no_record(self, notes):
        with trials.use(code="other"):
            record = Record("elr/uci", seed=1)
            record.complete("sets", self.FRAME, [])
            assert "No row of this page" in record.note
        assert self.outdated(notes) == []

    def test_the_lock_is_the_books(self):
        assert re.fullmatch("[0-9a-f]{64}", lock_digest())


RECORDED = sorted((REPOSITORY / "data" / "recorded").rglob("*.csv.gz"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_the_books_records_name_a_commit_of_its_history(path):
    facts, _ = read_record(path)
    for field in ("commit", "code", "lock", "date"):
        assert facts.get(field), field
    assert history.COMMIT.fullmatch(facts["commit"])  # and no uncommitted changes
    project = Project(REPOSITORY)
    if history.git(project, "rev-parse", "--is-shallow-repository") == "false":
        assert history.is_ancestor(project, facts["commit"])


WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").iterdir())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_run_at_night_and_one_that_publishes_do_not_cancel_each_other(path):
    concurrency = yaml.safe_load(path.read_text(encoding="utf-8"))["concurrency"]
    assert "${{ github.event_name }}" in concurrency["group"]
    assert concurrency["cancel-in-progress"] == "${{ github.ref != 'refs/heads/main' }}"
