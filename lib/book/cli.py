"""The command ``book``."""

import logging
import secrets
import shutil
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import click
from click.core import ParameterSource

from lib.book.project import (
    PROFILES,
    PUBLISHED,
    BookError,
    Project,
    naming,
    parameters_of,
    read_mapping,
    settle,
)
from lib.files import LIB
from lib.validation import check_engine

# Each command imports what it needs: that of the pages takes seconds.
REPOSITORY = Path(__file__).resolve().parents[2]
REMEDY = "the folder of the book must be writable, with room for _build; what has finished is kept"
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
OLD_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_PATH = click.Path(path_type=Path)


class _Command(click.Command):
    """A command that takes `-p NAME=VALUE` for `-p NAME VALUE`."""

    def parse_args(self, context, args):
        words = []
        for before, word in zip(["", *args], args, strict=False):
            words += word.split("=", 1) if before == "-p" else [word]
        return super().parse_args(context, words)


chapter_argument = click.argument("chapter", callback=lambda c, _, name: c.obj.find(name))
chapters_argument = click.argument(
    "chapters", nargs=-1, callback=lambda c, _, names: list(map(c.obj.find, names))
)
scale = {
    "type": click.Choice(PROFILES),
    "help": "Scale: quick, some minutes in all; paper, what is published.",
}
profile_option = click.option("--profile", **scale)
published_option = click.option("--profile", default=PUBLISHED, **scale)
engine_option = click.option(
    "--engine", help="Address of a Dask scheduler whose workers run the trials."
)
pairs_option = click.option(
    "-p",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set a parameter, in a sweep to VALUE,VALUE ...",
)
file_option = click.option("-f", "file", type=OLD_FILE, help="YAML file of parameters.")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--root", default=REPOSITORY, type=FOLDER, envvar="BOOK_ROOT", help="Folder of the book."
)
@click.pass_context
def cli(context, root):
    """Run the chapters of the book with other parameters, or build all of it."""
    root = root.resolve()
    _require_library(root)
    if context.get_parameter_source("root") is ParameterSource.DEFAULT:
        _require_folder(root)
    context.obj = Project(root)


def _require_library(root: Path) -> None:
    """Raise BookError unless the book in a folder has the lib that runs here: its pages are signed as if it had."""
    library = root / "lib"
    if (root / "_toc.yml").exists() and not (library.exists() and library.samefile(LIB)):
        raise BookError(
            f"the book in {root} is not of the code that runs here, in {LIB}; {_remedy(root)}"
        )


def _require_folder(root: Path) -> None:
    """Raise BookError if the command is called inside another clone of the book than the one that it would take."""
    with suppress(FileNotFoundError):  # called in a folder that is gone
        here = Path.cwd()
        clones = [folder for folder in (here, *here.parents) if (folder / "_toc.yml").exists()]
        if clones and (clones[0] / "lib" / "book").is_dir() and not clones[0].samefile(root):
            raise BookError(
                f"this command is of the book in {root}, and was called in {clones[0]}, another one; "
                f"{_remedy(clones[0])}, or name the one that you mean: `book --root {root}`"
            )


def _remedy(root: Path) -> str:
    command = root / ".venv" / "bin" / "book"
    return f"run {command}, which `make env` in {root} sets up, also after it was copied or moved"


cli.command_class = _Command


@cli.command("list")
@chapters_argument
@click.pass_obj
def list_chapters(project, chapters):
    """Show CHAPTERS (all, if none is named) with their parameters: type, default, allowed values, meaning.

    Beside each stands what it takes with --profile paper, on two cores.
    """
    seconds = read_mapping(project.root / "chapters" / "seconds.yml")
    for chapter in chapters or project.chapters:
        took = f"  (paper: {seconds[chapter] / 60:.1f} minutes)" if chapter in seconds else ""
        click.echo(click.style(chapter, bold=True) + took)
        for p in parameters_of(project, chapter).values():
            allowed = f" [{p.allowed}]" if p.allowed else ""
            click.echo(f"  {p.name}: {p.type} = {p.default!r}{allowed}\n      {p.meaning}")


@cli.command()
@chapter_argument
@pairs_option
@file_option
@profile_option
@engine_option
@click.option("-o", "output", type=NEW_PATH, help="Where the executed notebook goes.")
@click.option("--html", is_flag=True, help="Make a page of it, too, that opens without a network.")
@click.pass_obj
def run(project, chapter, pairs, file, profile, engine, output, html):
    """Run CHAPTER (such as cia/curves) with parameters of your own.

    A later source wins: the notebook's defaults, --profile, -f, -p. Names and values are checked
    before anything runs. `book list` shows what can be set. Finished blocks of trials are stored: a
    second run goes on from there.
    """
    from lib.book import blocks, history, site
    from lib.book.cache import take_snapshot
    from lib.book.jobs import Job, reason_not_to_use

    values = _values(project, chapter, profile, file, pairs, engine)
    if engine and "engine" not in values:
        raise BookError(f"{chapter} has no parameter engine: its trials run in its own process")
    output = (output or project.root / "_build" / "run" / f"{chapter}.ipynb").resolve()
    if output in [project.notebook(name) for name in project.chapters]:
        raise BookError(f"{output} is a chapter of the book; choose another file")
    commit, before = history.commit(project), take_snapshot(project, chapter, values)
    notes = blocks.execute_stored(project, chapter, values, output, notebook=before.notebook)
    click.echo(f"executed notebook: {output}")
    after, job = take_snapshot(project, chapter, values), Job(chapter, chapter, values, output)
    if why := reason_not_to_use(project, job, before, after, notes):
        raise BookError(f"{chapter}: {why}")
    if html:
        name = f"profile {profile}" if profile and not (file or pairs) else "parameters of its own"
        commit = history.commit_since(project, commit)
        click.echo(f"page: {site.build_page(project, chapter, output, values, name, commit)}")


@cli.command()
@click.option(
    "--clear",
    type=click.Choice(["old", "all"]),
    help="Remove those of old code, data or packages; or all.",
)
@click.pass_obj
def cache(project, clear):
    """Show or clear the finished blocks of trials.

    They are found again only with the code, data, packages and Python that they were made with.
    """
    from lib.book import blocks

    experiments = blocks.stored_experiments(project.results)
    if clear:
        removed = [
            experiment for experiment in experiments if clear == "all" or not experiment.current
        ]
        for experiment in removed:
            shutil.rmtree(experiment.folder)
        click.echo(f"removed: {blocks.total(removed)}")
        experiments = [experiment for experiment in experiments if experiment not in removed]
    click.echo(blocks.show(project.results, experiments))


@cli.command()
@chapters_argument
@published_option
@pairs_option
@file_option
@engine_option
@click.option(
    "--part",
    type=click.FloatRange(0, 1),
    default=0.1,
    help="How many of the blocks; default: a tenth.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Which blocks; default: others each time.")
@click.pass_obj
def verify(project, chapters, profile, pairs, file, engine, part, seed):
    """Run a random part of the stored blocks of each experiment again and compare.

    They are those of CHAPTERS (all, if none is named) with these parameters, and with --profile
    paper if no other is named: `book run` or `book build` must have computed them.
    """
    if part != part:
        raise click.BadParameter("--part nan is no number")
    from lib.book import blocks

    seed = secrets.randbelow(10**6) if seed is None else seed
    asked = {
        name: _values(project, name, profile, file, pairs, engine)
        for name in chapters or project.chapters
    }
    total = Counter()
    for chapter, values in asked.items():
        counts = blocks.verify(project, chapter, values, part, seed)
        click.echo(
            f"{chapter}: {counts['verified']} of {counts['found']} stored blocks run again, equal"
        )
        total += counts
    click.echo(f"in all: {total['verified']} of {total['found']} (--seed {seed})")


@cli.command()
@chapter_argument
@pairs_option
@file_option
@profile_option
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Runs at once; default: the number of cores."
)
@click.option(
    "-o", "output", type=NEW_PATH, help="Where the runs go; default: _build/sweep/CHAPTER."
)
@click.option("--html", is_flag=True, help="Make a page of each run, too.")
@click.pass_obj
def sweep(project, chapter, pairs, file, profile, jobs, output, html):
    """Run CHAPTER once for each value of a parameter, and compare the claims on one page.

    With several swept parameters there is a run for each combination. For a parameter that is a
    list, each element is a run, and [2,3],[5] is one run with both 2 and 3 and one with 5. A single
    value is the same in all runs. All is checked before anything runs; runs whose parameters and
    sources have not changed are used again.

    Four runs, two at a time: `book sweep cia/curves -p n_hidden 2,3,4,5 --jobs 2`.
    """
    from lib.book import history
    from lib.book import sweep as sweeping
    from lib.book.jobs import alone_in, run_all

    folder = (output or project.root / "_build" / "sweep" / chapter).resolve()
    layers = [
        project.profile(profile, chapter) if profile else {},
        read_mapping(file) if file else {},
    ]
    runs = {run.name: run for run in sweeping.plan(project, chapter, folder, pairs, *layers)}
    sweeping.claim_folder(folder, chapter)
    click.get_current_context().with_resource(alone_in(folder))
    sweeping.announce(list(runs.values()))
    commit = history.commit(project)
    try:
        run_all(
            project,
            runs,
            jobs,
            (lambda run: sweeping.make_page(project, run, commit)) if html else None,
        )
    finally:
        click.echo(
            f"comparison: {sweeping.write_pages(project, folder, chapter, list(runs.values()), commit)}"
        )


@cli.command()
@chapters_argument
@published_option
@click.option(
    "--jobs",
    "at_once",
    type=click.IntRange(min=1),
    help="Chapters at once; default: the number of cores.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="A warning is an error; in profile paper, so is an unrecorded verdict.",
)
@click.pass_obj
def build(project, chapters, profile, at_once, strict):
    """Execute what has changed and build the book's pages.

    With CHAPTERS, only these are executed, and the pages are built if the others are up to date.
    """
    from lib.book import environment, jobs, registry, site, verdicts
    from lib.book.pdf import make_pdf

    plan = jobs.plan(project, profile, chapters or project.chapters)
    _or_warn(strict, environment.require_locked, project.root / "requirements.lock")
    if profile == PUBLISHED:
        _or_warn(strict, registry.require_history, project)
    click.get_current_context().with_resource(jobs.alone_in(project.build_folder(profile)))
    # no page outlives its results
    shutil.rmtree(project.build_folder(profile) / "html", ignore_errors=True)
    jobs.run_all(project, plan, at_once)
    jobs.require_fresh(project, profile)
    claims = verdicts.read_claims(project, profile)
    if profile == PUBLISHED:
        _or_warn(strict, verdicts.require_recorded, project, claims)
        _or_warn(strict, registry.require_registered, project, claims)
    click.echo("building the pages ...")
    page = site.build_site(project, profile, strict)
    if profile == PUBLISHED:
        click.echo("printing the PDF ...")
        _or_warn(False, lambda: click.echo(f"PDF: {make_pdf(project, profile)}"))
    click.echo(f"open {page}")


@cli.command()
@published_option
@click.option(
    "--record", is_flag=True, help="Record the verdicts of profile paper in chapters/verdicts.yml."
)
@click.option(
    "--register", is_flag=True, help="Add what decides each new setting to chapters/registered.yml."
)
@click.option(
    "--registered",
    "history",
    is_flag=True,
    help="Check that file, and say since when each entry is there.",
)
@click.pass_obj
def claims(project, profile, record, register, history):
    """Show every claim with its verdicts in the last build."""
    from lib.book import jobs, registry, verdicts
    from lib.claims import estimate

    if record and profile != PUBLISHED:
        raise BookError(f"only verdicts of profile {PUBLISHED} are recorded")
    jobs.require_fresh(project, profile)
    if history:
        registry.require_history(project)
    records = verdicts.read_claims(project, profile)
    since = registry.registrations(project) if history else {}
    for claim in records:
        click.echo(f"{claim['id']}: {claim['sentence']}")
        for setting in claim["settings"]:
            words = since.get(setting["id"], "not committed") if history else estimate(setting)
            click.echo(f"  {setting['verdict']:15}  {setting['id']}: {words}")
    if register:
        click.echo(f"registered: {', '.join(registry.register(project, records)) or 'nothing new'}")
    if history:
        registry.require_registered(project, records)
    if record:
        verdicts.record(project, records)
        click.echo(f"recorded {len(verdicts.settings_of(records))} verdicts in {verdicts.FILE}")


@cli.command()
@click.argument("name", metavar="PART/NAME")
@click.option("--title", default="A new chapter", help="Its heading.")
@click.pass_obj
def new(project, name, title):
    """Add a chapter: a small notebook that runs, listed in the contents and in the paper profile.

    PART is the folder of other chapters, such as cia. What is left to do is said at the end.
    """
    from lib.book.new_chapter import new_chapter

    click.echo(new_chapter(project, name, title))


@cli.command()
@click.argument("chapters", nargs=-1, required=True)
@click.pass_obj
def record(project, chapters):
    """Record the rows of CHAPTERS, as they are published, for builds that lack data which are not shipped.

    They must all be here. Blocks that a build has stored are not run again. Rows name the commit
    that they are of: no file but other records may differ from it.
    """
    from lib.book import blocks

    for chapter in [project.find(name) for name in chapters]:
        click.echo(f"recorded: {blocks.record(project, chapter)}")


@cli.command("open")
@published_option
@click.pass_obj
def open_book(project, profile):
    """Open the pages of the last build in the browser."""
    page = project.build_folder(profile) / "html" / "index.html"
    if not page.exists():
        raise BookError(f"there are no pages yet: `book build --profile {profile}` makes them")
    click.echo(f"open {page}")
    click.launch(page.as_uri())


@cli.command()
@published_option
@click.pass_obj
def pdf(project, profile):
    """Print the pages of the last build into one PDF beside them (needs the browser Chromium)."""
    from lib.book.jobs import require_fresh
    from lib.book.pdf import make_pdf

    require_fresh(project, profile)
    click.echo(f"open {make_pdf(project, profile)}")


@cli.command()
@chapters_argument
@click.pass_obj
def refresh(project, chapters):
    """Run CHAPTERS (all, if none is named) with their own defaults and store the outputs in the notebooks.

    These outputs are what the tests compare with; look at the difference before you commit it. The
    first cell, which says what to install, is put in or brought up to date.
    """
    from lib.book import refresh

    for chapter in chapters or project.chapters:
        click.echo(f"stored: {refresh.refresh(project, chapter)}")


def _or_warn(strict: bool, require, *arguments) -> None:
    """Call `require`; unless the build is strict, what it requires is a warning."""
    try:
        require(*arguments)
    except BookError as error:
        if strict:
            raise
        click.secho(f"Warning: {error.message}", fg="yellow", err=True)


def _values(project: Project, chapter: str, profile, file, pairs, engine) -> dict:
    """Return the checked values that the options of a command set; a later source wins."""
    parameters = parameters_of(project, chapter)
    scale = project.profile(profile, chapter) if profile else {}
    with naming(chapter):
        options = {
            name: parameters[name].parse(text) if name in parameters else text
            for name, text in pairs
        }
        if engine and "engine" in parameters:
            options["engine"] = check_engine(engine)
    return settle(project, chapter, scale, read_mapping(file) if file else {}, options)[0]


def main() -> None:
    """Run the command; Ctrl-C ends it with exit code 130."""
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (OSError, UnicodeError) as error:
        click.echo(f"Error: {error}; {REMEDY}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        # it would report the cell that was cut short
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        click.echo("interrupted", err=True)
        sys.exit(130)
