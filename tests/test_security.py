"""What SECURITY.md says: nothing read is run, downloads are checked, workflows may do little."""

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
    r"(builtins\.)?(eval|exec|compile|__import__)"
    r"|os\.(system|popen|exec\w+|spawn\w+)"
    r"|pd\.eval|(\w+\.)?read_pickle|joblib\.load"
    r"|.*\.(unpack_archive|extractall)|unpack_archive"
    r"|yaml\.(unsafe_|full_)?load(_all)?"
)
ALLOWED_CODE = {
    "lib/book/run/parameters.py": ["yaml.load(text, Loader=_Loader)"],
    "lib/trials/source_key.py": ["cloudpickle"],  # asked what it would send by value
    # which writes, and whose list of what it has sent is cleared
    "lib/trials/runner.py": ["cloudpickle"],
    # itself, in another environment
    "lib/book/__main__.py": ["os.execve(sys.executable, sys.orig_argv, environment)"],
}
CONTENT = b"1,2,a\n"


def dangers(source):
    """Return what a module's source has that could run or unpack what it reads."""
    result = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            modules = []
        result += [name for name in modules if name.partition(".")[0] in UNSAFE_MODULES]
        if isinstance(node, ast.Call) and _is_dangerous(node):
            result.append(ast.unparse(node))
    return result


def _is_dangerous(call):
    function = ast.unparse(call.func)
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if function.endswith((".query", ".eval")):  # pandas runs the text
        text = call.args[0]
        choices = [text.body, text.orelse] if isinstance(text, ast.IfExp) else [text]
        return not all(isinstance(choice, ast.Constant) for choice in choices)
    if function in ("np.load", "numpy.load"):
        return keywords.get("allow_pickle") != "False"
    if keywords.get("shell", "False") != "False":
        return True
    return UNSAFE_CALLS.fullmatch(function) is not None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_library_runs_and_unpacks_nothing_that_it_reads(path):
    allowed_code = ALLOWED_CODE.get(path.relative_to(ROOT).as_posix(), [])
    assert dangers(path.read_text(encoding="utf-8")) == allowed_code


def test_the_one_yaml_loader_is_a_safe_one():
    from lib.book.run import parameters

    loader = parameters._Loader
    assert issubclass(loader, yaml.SafeLoader)
    assert loader.yaml_constructors == yaml.SafeLoader.yaml_constructors
    assert loader.yaml_multi_constructors == yaml.SafeLoader.yaml_multi_constructors


@pytest.fixture
def entry(monkeypatch, tmp_path):
    """A set that is to be fetched."""
    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path / "cache"))
    return dataclasses.replace(
        catalogue()["chess"],
        files=("a.data",),
        sha256=(downloads.sha256(CONTENT),),
        address="https://example.org/x/",
    )


class Server(BaseAdapter):
    """Takes the place of all servers of the net.

    Attributes
    ----------
    answers : dict
        Status, headers and content, by address.
    requests : list
        Addresses, in the order of the requests.
    """

    def __init__(self):
        super().__init__()
        self.answers = {}
        self.requests = []

    def send(self, request, **_):
        self.requests.append(request.url)
        status, headers, content = self.answers[request.url]
        response = requests.Response()
        response.status_code = status
        response.url = request.url
        response.request = request
        response.headers.update(headers)
        response.raw = io.BytesIO(content)
        return response

    def close(self):
        pass


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(requests.Session, "get_adapter", lambda self, url: server)
    return server


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
def test_an_unsafe_entry_is_refused_before_any_connection(entry, server, changes, message):
    unsafe_entry = dataclasses.replace(entry, **changes)
    with pytest.raises(ValueError, match=f"chess: .*{re.escape(message)}"):
        downloads.read_files(unsafe_entry)
    with pytest.raises(ValueError, match=f"chess: .*{re.escape(message)}"):
        downloads.download(unsafe_entry, "a.data")
    status, reason = downloads.download_status(unsafe_entry)
    assert status == "not available"
    assert message in reason
    assert server.requests == []


def test_the_manifest_is_safe():
    downloadable = [entry for entry in catalogue().values() if entry.kind == "uci"]
    assert len(downloadable) > 20
    folder = downloads.download_folder()
    for entry in catalogue().values():
        if entry.kind in ("uci", "shipped"):
            downloads.check(entry)
            for file in entry.files:
                assert (folder / file).resolve().parent == folder.resolve()
    with open(DATA / "manifest.csv", newline="", encoding="utf-8") as file:
        addresses = [row["address"] for row in csv.DictReader(file)]
    assert all(address.startswith("https://") for address in addresses if address)


def test_a_download_over_https_is_kept(entry, server):
    server.answers = {
        "https://example.org/x/a.data": (302, {"location": "/y/a.data"}, b""),
        "https://example.org/y/a.data": (200, {}, CONTENT),
    }
    assert downloads.read_files(entry) == ([CONTENT], "cache")
    assert server.requests == list(server.answers)


@pytest.mark.parametrize(
    "target",
    [
        "http://example.org/y/a.data",
        "HTTP://example.org",
        "ftp://example.org/a.data",
        "file:///etc/passwd",
    ],
)
def test_a_redirection_that_leaves_https_is_not_followed(entry, server, target):
    server.answers = {
        "https://example.org/x/a.data": (301, {"location": "https://example.org/z"}, b""),
        "https://example.org/z": (302, {"location": target}, b""),
    }
    with pytest.raises(downloads.NotAvailableError, match="redirected to .*, which is not https"):
        downloads.read_files(entry)
    assert server.requests == list(server.answers)
    assert not list(downloads.download_folder().iterdir())


def test_a_download_without_end_is_given_up(entry, server, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 10_000)
    server.answers = {"https://example.org/x/a.data": (200, {}, bytes(20_000))}
    with pytest.raises(downloads.NotAvailableError, match="more than 10,000 bytes"):
        downloads.read_files(entry)
    assert not list(downloads.download_folder().iterdir())


def test_a_gzip_bomb_in_the_mirror_is_given_up(entry, monkeypatch, tmp_path):
    """A million zeros are a thousand bytes of gzip."""
    monkeypatch.setattr(downloads, "LARGEST", 10_000)
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(downloads.NotAvailableError, match="a.data.gz has more than 10,000 bytes"):
        downloads.read_files(entry)
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(CONTENT))
    assert downloads.read_files(entry) == ([CONTENT], "mirror")
    (tmp_path / "a.data").write_bytes(bytes(20_000))
    with pytest.raises(downloads.NotAvailableError, match="a.data has more than 10,000 bytes"):
        downloads.read_files(entry)


def test_a_cache_that_cannot_be_written_is_named(entry, server):
    server.answers = {"https://example.org/x/a.data": (200, {}, CONTENT)}
    downloads.download_folder().write_bytes(b"in its place")
    message = "a.data cannot be kept in '.*/cache' .* UCI_CACHE to a folder"
    with pytest.raises(downloads.NotAvailableError, match=message):
        downloads.read_files(entry)


def jobs_of(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
class TestWorkflows:
    def test_only_what_publishes_may_write(self, path):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            permissions = job.get("permissions", {"contents": "read"})
            if name == "publish":
                assert permissions == {"pages": "write", "id-token": "write"}
            else:
                assert permissions == {"contents": "read"}

    def test_a_pull_request_reaches_no_job_that_may_write(self, path):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        # YAML's on is true
        assert set(workflow[True]) <= {"push", "pull_request", "workflow_dispatch", "schedule"}
        for job in workflow["jobs"].values():
            if "write" in job.get("permissions", {}).values():
                assert "github.event_name == 'push'" in workflow["jobs"][job["needs"]]["if"]

    def test_actions_are_pinned_and_leave_no_credentials(self, path):
        """A tag can be moved to other code, a commit cannot."""
        for job in jobs_of(path).values():
            for step in job["steps"]:
                if "uses" in step:
                    assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False

    def test_no_expression_becomes_part_of_a_command(self, path):
        """GitHub puts its text into the script, which would run it."""
        commands = []
        for job in jobs_of(path).values():
            commands += [step["run"] for step in job["steps"] if "run" in step]
        assert commands
        assert not [command for command in commands if "${{" in command]
        assert "secrets." not in path.read_text(encoding="utf-8")
