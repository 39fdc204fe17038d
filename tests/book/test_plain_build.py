"""Pages that jupyter-book makes by itself say of what they are; those of `book` do not."""

import subprocess
import sys

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import REPOSITORY

from lib.book.pages import site

PLAIN = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]


def banner(config):
    return config["sphinx"]["config"]["html_theme_options"].get("announcement")


def config_in(folder):
    return yaml.safe_load((folder / "_config.yml").read_text(encoding="utf-8"))


def test_the_configuration_has_the_banner_and_what_is_staged_has_not(project):
    text = BeautifulSoup(banner(config_in(REPOSITORY)), "html.parser").text
    for words in ("quick runs", "small scale", "claims are not decided", "make book"):
        assert words in text
    staged = config_in(site._stage_shared_files(project, project.build_folder("quick")))
    assert banner(staged) is None
    assert banner(project.config) is not None  # which is read once, as it is
    options = config_in(REPOSITORY)["sphinx"]["config"]["html_theme_options"]
    del options["announcement"]
    assert staged["sphinx"]["config"]["html_theme_options"] == options


@pytest.mark.parametrize(
    "config", [{}, {"sphinx": None}, {"sphinx": {"config": {}}}, {"html": {"baseurl": ""}}]
)
def test_a_configuration_without_a_banner_stays_as_it_is(config):
    assert site.without_banner(config) == config


def test_readme_names_the_command_and_what_the_other_gives():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "`jupyter-book build .`" in text


@pytest.mark.slow
def test_every_page_of_a_plain_build_has_the_banner(project):
    process = subprocess.run(PLAIN, cwd=project.root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    pages = sorted((project.root / "_build" / "html").rglob("chapters/**/*.html"))
    assert {page.name for page in pages} >= {"intro.html", "curves.html", "scorecard.html"}
    for page in pages:
        text = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").text
        assert "at which claims are not decided" in " ".join(text.split()), page


@pytest.mark.slow
def test_no_page_of_a_build_has_it(built_project):
    for page in (built_project.build_folder("quick") / "html").rglob("*.html"):
        assert "claims are not decided" not in page.read_text(encoding="utf-8"), page
