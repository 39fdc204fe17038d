"""The built site, a server for it and one browser a worker."""

import os
import re

import pytest
from built_site import chapter_names, find_chromium, find_site, is_redirect, page_names
from markup import read_markup
from playwright.sync_api import sync_playwright
from server import serve
from visit import visit_page
from xdist.scheduler import LoadScopeScheduling

NO_SITE = (
    "no built pages in _build/quick/html or _build/paper/html: "
    "`make book PROFILE=quick` builds them"
)
NO_BROWSER = (
    "no chromium, chromium-browser or google-chrome on PATH (or elsewhere: CHROMIUM=/path/to/it)"
)
# Nothing but this machine has an address, so nothing can leave it.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def pytest_configure(config):
    if find_site() is None:
        folder = os.environ.get("BOOK_HTML")
        raise pytest.UsageError(f"BOOK_HTML={folder!r} holds no index.html" if folder else NO_SITE)


class ByPage(LoadScopeScheduling):
    """Gives the tests of a page to one worker, which visits it once; others go by file."""

    def _split_scope(self, nodeid):
        page = re.search(r"\[([^\]]*?\.html)", nodeid)
        return page[1] if page else nodeid.split("::")[0]


def pytest_xdist_make_scheduler(config, log):
    return ByPage(config, log)


def pytest_generate_tests(metafunc):
    site = find_site()
    if "visit" in metafunc.fixturenames:
        names = [name for name in page_names(site) if not is_redirect(site / name)]
        metafunc.parametrize("visit", names, indirect=True)
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", page_names(site))
    if "chapter_name" in metafunc.fixturenames:
        metafunc.parametrize("chapter_name", chapter_names(site))


@pytest.fixture(scope="session")
def site():
    return find_site()


@pytest.fixture(scope="session")
def markups(site):
    """The parsed pages by name."""
    return {name: read_markup(site / name) for name in page_names(site)}


@pytest.fixture(scope="session")
def address(site):
    with serve(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    program = find_chromium()
    if program is None and os.environ.get("BOOK_BROWSER") == "require":
        pytest.fail(NO_BROWSER)
    if program is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def visits():
    """The visits of this process, by page: one does for all tests of a page."""
    return {}


@pytest.fixture
def visit(request, visits, browser, site, address):
    """The visit of a page."""
    if request.param not in visits:
        visits[request.param] = visit_page(browser, site, address, request.param)
    return visits[request.param]
