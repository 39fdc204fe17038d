"""What SECURITY.md says: nothing read is run or unpacked, downloads are checked, workflows may do little."""

import ast
import csv
import dataclasses
import gzip
import io
import re
from pathlib import Path

import pytest
import requests
import yaml
from requests.adapters import BaseAdapter

from lib.datasets import downloads
from lib.datasets.catalogue import DATA, catalogue

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "lib").rglob("*.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
UNSAFE_MODULES = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"),
    *("tarfile", "zipfile", "zipimport", "runpy", "code"),
}
UNSAFE_CALLS = re.compile(
    r"(builtins\.)?(eval|exec|compile|__import__)|os\.(system|popen|exec\w+|spawn\w+)|pd\.eval|(\w+\.)?read_pickle"
    r"|joblib\.load|.*\.(unpack_archive|extractall)|unpack_archive|yaml\.(unsafe_|full_)?load(_all)?"
)
ALLOWED = {
    "lib/book/parameters.py": ["yaml.load(text, Loader=_Loader)"],
    "lib/trials/description.py": ["cloudpickle"],  # asked what it would send by value
    # which writes, and whose list of what it has sent is cleared
    "lib/trials/runner.py": ["cloudpickle"],
    # itself, in another environment
    "lib/book/__main__.py": ["os.execve(sys.executable, sys.orig_argv, environment)"],
}
CONTENT = b"1,2,a\n"


def dangers(source):
    """Return what a module's source has that could run or unpack what it reads."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            found += [name for name in names if name.partition(".")[0] in UNSAFE_MODULES]
        elif isinstance(node, ast.Call):
            found += [ast.unparse(node)] * _is_dangerous(node)
    return found


def _is_dangerous(call):
    function, keywords = (
        ast.unparse(call.func),
        {k.arg: ast.unparse(k.value) for k in call.keywords},
    )
    if function.endswith((".query", ".eval")):  # pandas runs the text
        given = (
            [call.args[0].body, call.args[0].orelse]
            if isinstance(call.args[0], ast.IfExp)
            else [call.args[0]]
        )
        return not all(isinstance(text, ast.Constant) for text in given)
    if function in ("np.load", "numpy.load"):
        return keywords.get("allow_pickle") != "False"
    return bool(UNSAFE_CALLS.fullmatch(function)) or keywords.get("shell", "False") != "False"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_library_runs_and_unpacks_nothing_that_it_reads(path):
    assert dangers(path.read_text(encoding="utf-8")) == ALLOWED.get(
        path.relative_to(ROOT).as_posix(), []
    )


def test_the_one_yaml_loader_is_a_safe_one():
    from lib.book import parameters

    assert issubclass(parameters._Loader, yaml.SafeLoader)
    own = parameters._Loader.yaml_constructors, parameters._Loader.yaml_multi_constructors
    assert own == (yaml.SafeLoader.yaml_constructors, yaml.SafeLoader.yaml_multi_constructors)


@pytest.fixture
def entry(monkeypatch, tmp_path):
    """A set that is to be fetched."""
    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path / "cache"))
    address, digest = "https://example.org/x/", downloads.sha256(CONTENT)
    return dataclasses.replace(
        catalogue()["chess"], files=("a.data",), sha256=(digest,), address=address
    )


@pytest.fixture
def asked(monkeypatch):
    """Addresses that were connected to; answers are in `asked.answers`, by address: (status, headers, content)."""

    class Asked(list):
        answers = {}  # noqa: RUF012

    class Adapter(BaseAdapter):
        def send(self, request, **_):
            seen.append(request.url)
            status, headers, content = seen.answers[request.url]
            response = requests.Response()
            response.status_code, response.url, response.request = status, request.url, request
            response.headers.update(headers)
            response.raw = io.BytesIO(content)
            return response

        def close(self):
            pass

    seen = Asked()
    seen.answers = {}
    monkeypatch.setattr(requests.Session, "get_adapter", lambda self, url: Adapter())
    return seen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"address": "http://example.org/x/"},
            "address 'http://example.org/x/' must begin with https://",
        ),
        ({"address": "ftp://example.org/x/"}, "must begin with https://"),
        ({"address": "file:///etc/"}, "must begin with https://"),
        ({"address": "https:///x/"}, "must begin with https:// and a host"),
        ({"address": ""}, "must begin with https://"),
        ({"sha256": ()}, "sha256 must be given for each of 1 files"),
        ({"sha256": ("",)}, "sha256 '' must be 64 hexadecimal digits"),
        ({"sha256": ("0" * 63,)}, "must be 64 hexadecimal digits"),
        ({"sha256": ("md5:" + "0" * 60,)}, "must be 64 hexadecimal digits"),
        ({"files": ("../a.data",)}, "file '../a.data' must be a plain name"),
        ({"files": ("/etc/passwd",)}, "must be a plain name"),
        ({"files": ("..",)}, "must be a plain name"),
        ({"files": ("a\\b",)}, "must be a plain name"),
        ({"files": ("a.data\n",)}, "must be a plain name"),
    ],
)
def test_an_unsafe_entry_is_refused_before_any_connection(entry, asked, changes, message):
    unsafe = dataclasses.replace(entry, **changes)
    for attempt in (downloads.read, lambda unsafe: downloads.download(unsafe, "a.data")):
        with pytest.raises(ValueError, match=f"chess: .*{re.escape(message)}"):
            attempt(unsafe)
    status, reason = downloads.status(unsafe)
    assert status == "not available"
    assert message in reason
    assert not asked


def test_the_manifest_is_safe():
    fetched = [entry for entry in catalogue().values() if entry.kind == "uci"]
    assert len(fetched) > 20
    for entry in catalogue().values():
        if entry.kind in ("uci", "shipped"):
            downloads.check(entry)
            for file in entry.files:
                assert (
                    downloads.cache_folder() / file
                ).resolve().parent == downloads.cache_folder().resolve()
    with open(DATA / "manifest.csv", newline="", encoding="utf-8") as file:
        assert not [
            row
            for row in csv.DictReader(file)
            if row["address"] and not row["address"].startswith("https://")
        ]


def test_a_download_over_https_is_kept(entry, asked):
    asked.answers = {
        "https://example.org/x/a.data": (302, {"location": "/y/a.data"}, b""),
        "https://example.org/y/a.data": (200, {}, CONTENT),
    }
    assert downloads.read(entry) == ([CONTENT], "cache")
    assert asked == list(asked.answers)


@pytest.mark.parametrize(
    "target",
    [
        "http://example.org/y/a.data",
        "HTTP://example.org",
        "ftp://example.org/a.data",
        "file:///etc/passwd",
    ],
)
def test_a_redirection_that_leaves_https_is_not_followed(entry, asked, target):
    asked.answers = {
        "https://example.org/x/a.data": (301, {"location": "https://example.org/z"}, b""),
        "https://example.org/z": (302, {"location": target}, b""),
    }
    with pytest.raises(downloads.NotAvailableError, match="redirected to .*, which is not https"):
        downloads.read(entry)
    assert asked == list(asked.answers)
    assert not list(downloads.cache_folder().iterdir())


def test_a_download_without_end_is_given_up(entry, asked, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 10_000)
    asked.answers = {"https://example.org/x/a.data": (200, {}, bytes(20_000))}
    with pytest.raises(downloads.NotAvailableError, match="more than 10,000 bytes"):
        downloads.read(entry)
    assert not list(downloads.cache_folder().iterdir())


def test_a_gzip_bomb_in_the_mirror_is_given_up(entry, monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "LARGEST", 10_000)
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(downloads.NotAvailableError, match="a.data.gz has more than 10,000 bytes"):
        downloads.read(entry)
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(CONTENT))
    assert downloads.read(entry) == ([CONTENT], "mirror")
    (tmp_path / "a.data").write_bytes(bytes(20_000))
    with pytest.raises(downloads.NotAvailableError, match="a.data has more than 10,000 bytes"):
        downloads.read(entry)


def test_a_cache_that_cannot_be_written_is_named(entry, asked):
    asked.answers = {"https://example.org/x/a.data": (200, {}, CONTENT)}
    downloads.cache_folder().write_bytes(b"in its place")
    with pytest.raises(
        downloads.NotAvailableError,
        match="a.data cannot be kept in '.*/cache' .* UCI_CACHE to a folder",
    ):
        downloads.read(entry)


def jobs_of(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
class TestWorkflows:
    def test_only_what_publishes_may_write(self, path):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            allowed = (
                {"pages": "write", "id-token": "write"}
                if name == "publish"
                else {"contents": "read"}
            )
            assert job.get("permissions", {"contents": "read"}) == allowed

    def test_a_pull_request_reaches_no_job_that_may_write(self, path):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        # YAML's on is true
        assert set(workflow[True]) <= {"push", "pull_request", "workflow_dispatch", "schedule"}
        for job in workflow["jobs"].values():
            if "write" in job.get("permissions", {}).values():
                assert "github.event_name == 'push'" in workflow["jobs"][job["needs"]]["if"]

    def test_actions_are_pinned_and_leave_no_credentials(self, path):
        for job in jobs_of(path).values():
            for step in job["steps"]:
                assert re.fullmatch(
                    r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40)
                )
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False

    def test_no_expression_becomes_part_of_a_command(self, path):
        commands = [
            step["run"] for job in jobs_of(path).values() for step in job["steps"] if "run" in step
        ]
        assert commands
        assert not [command for command in commands if "${{" in command]
        assert "secrets." not in path.read_text(encoding="utf-8")
