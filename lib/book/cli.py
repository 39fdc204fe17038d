"""The command ``book``."""

import logging
import math
import secrets
import shutil
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from lib.base.files import LIB
from lib.base.validation import check_engine
from lib.book.run.project import (
    COSTS,
    PROFILES,
    PUBLISHED,
    BookError,
    Project,
    errors_name,
    parameters_of,
    read_mapping,
    read_notebook,
    resolve_parameters,
)

# Each command imports what it needs inside its function: what makes pages takes seconds to import.
REPOSITORY = Path(__file__).resolve().parents[2]
REMEDY = "the folder of the book must be writable, with room for _build; what has finished is kept"
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
OLD_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_PATH = click.Path(path_type=Path)


class _Command(click.Command):
    """A command that takes `-p NAME=VALUE` for `-p NAME VALUE`."""

    def parse_args(self, context, args):
        words = []
        previous_word = None
        for word in args:
            if previous_word == "-p":
                words += word.split("=", 1)
            else:
                words.append(word)
            previous_word = word
        return super().parse_args(context, words)


def _find_chapter(context, option, name):
    return context.obj.find(name)


def _find_chapters(context, option, names):
    return [context.obj.find(name) for name in names]


def _profile_option(default):
    return click.option(
        "--profile",
        default=default,
        type=click.Choice(PROFILES),
        help="Scale: paper, the defaults, which are published; quick, that of the tests, too small to decide.",
    )


def _jobs_option(what):
    return click.option(
        "--jobs",
        "n_parallel",
        type=click.IntRange(min=1),
        help=f"{what} at once; default: the number of cores.",
    )


chapter_argument = click.argument("chapter", callback=_find_chapter)
chapters_argument = click.argument("chapters", nargs=-1, callback=_find_chapters)
profile_option = _profile_option(default=None)
published_option = _profile_option(default=PUBLISHED)
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
    """Raise BookError unless the book in a folder has the lib that runs here.

    Its pages would name that book's commit for results of another lib.
    """
    library = root / "lib"
    is_book = (root / "_toc.yml").exists()
    has_this_lib = library.exists() and library.samefile(LIB)
    if is_book and not has_this_lib:
        raise BookError(
            f"the book in {root} is not of the code that runs here, in {LIB}; {_remedy(root)}"
        )


def _require_folder(root: Path) -> None:
    """Raise BookError if the command is called inside another clone of the book than `root`."""
    try:
        working_folder = Path.cwd()
    except FileNotFoundError:  # it is gone
        return
    for folder in (working_folder, *working_folder.parents):
        if (folder / "_toc.yml").exists():
            if (folder / "lib" / "book").is_dir() and not folder.samefile(root):
                raise BookError(
                    f"this command is of the book in {root}, and was called in {folder}, "
                    f"another one; {_remedy(folder)}, "
                    f"or name the one that you mean: `book --root {root}`"
                )
            return


def _remedy(root: Path) -> str:
    """Return how to call the command of the book in a folder."""
    command = root / ".venv" / "bin" / "book"
    return f"run {command}, which `make env` in {root} sets up, also after it was copied or moved"


cli.command_class = _Command


@cli.command("list")
@chapters_argument
@click.pass_obj
def list_chapters(project, chapters):
    """Show CHAPTERS (all, if none is named) with their parameters.

    Of each parameter: type, default, allowed values, meaning. Beside each chapter stands what it
    takes with its defaults, on two cores, and the most memory that one of its processes had.
    """
    costs = read_mapping(project.root / COSTS)
    for chapter in chapters or project.chapters:
        heading = click.style(chapter, bold=True)
        if chapter in costs:
            minutes = costs[chapter]["processor"] / 2 / 60
            heading += f"  ({minutes:.1f} minutes, {costs[chapter]['memory']} GiB)"
        click.echo(heading)
        for parameter in parameters_of(project, chapter).values():
            line = f"  {parameter.name}: {parameter.type} = {parameter.default!r}"
            if parameter.allowed:
                line += f" [{parameter.allowed}]"
            click.echo(f"{line}\n      {parameter.meaning}")


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
    second run goes on from there. Two runs at once need outputs of their own (-o). The last lines
    count the claims that the run has decided. The defaults are the published scale.
    """
    from lib.book.pages import site
    from lib.book.pages.runs import SCALES, Run
    from lib.book.run import blocks, history
    from lib.book.run.jobs import lock_of, reason_not_to_use
    from lib.book.run.keys import take_snapshot
    from lib.book.verdicts import chapter_claims, run_summary

    values = _values(project, chapter, profile, file, pairs, engine)
    if engine and "engine" not in values:
        raise BookError(f"{chapter} has no parameter engine: its trials run in its own process")
    output = (output or project.root / "_build" / "run" / f"{chapter}.ipynb").resolve()
    if output in [project.notebook(name) for name in project.chapters]:
        raise BookError(f"{output} is a chapter of the book; choose another file")
    click.get_current_context().with_resource(lock_of(project, output))
    commit_at_start = history.commit(project)
    start = take_snapshot(project, chapter, values)
    notes = blocks.execute_stored(project, chapter, values, output, notebook=start.notebook)
    click.echo(f"executed notebook: {output}")
    end = take_snapshot(project, chapter, values)
    reason = reason_not_to_use(start, end, notes)
    if reason:
        raise BookError(f"{chapter}: {reason}")
    if html:
        scale = SCALES[profile or PUBLISHED] if not (file or pairs) else "parameters of its own"
        commit = history.commit_since(project, commit_at_start)
        page = site.build_page(project, Run(chapter, output, values, scale, commit))
        click.echo(f"page: {page}")
    claims_of_run = chapter_claims.claims_in(read_notebook(output))
    for line in run_summary.decision_lines(claims_of_run):
        click.echo(line)


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
    from lib.book.run import blocks

    experiments = blocks.stored_experiments(project.results)
    if clear:
        kept = []
        removed = []
        for experiment in experiments:
            if clear == "old" and experiment.is_current:
                kept.append(experiment)
            else:
                shutil.rmtree(experiment.folder)
                removed.append(experiment)
        click.echo(f"removed: {blocks.total_size(removed)}")
        experiments = kept
    click.echo(blocks.experiments_table(project.results, experiments))


@cli.command()
@chapters_argument
@published_option
@pairs_option
@file_option
@engine_option
@click.option(
    "--part",
    "share",
    type=click.FloatRange(0, 1),
    default=0.1,
    help="How many of the blocks; default: a tenth.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Which blocks; default: others each time.")
@click.pass_obj
def verify(project, chapters, profile, pairs, file, engine, share, seed):
    """Run a random part of the stored blocks of each experiment again and compare.

    They are those of CHAPTERS (all, if none is named) with these parameters, and with --profile
    paper if no other is named: `book run` or `book build` must have computed them.
    """
    from lib.book.run import blocks

    if math.isnan(share):  # which a range lets through
        raise click.BadParameter("--part nan is no number")
    if seed is None:
        seed = secrets.randbelow(10**6)
    # All values are checked before anything runs.
    values_by_chapter = {
        chapter: _values(project, chapter, profile, file, pairs, engine)
        for chapter in chapters or project.chapters
    }
    total = Counter()
    for chapter, values in values_by_chapter.items():
        counts = blocks.verify(project, chapter, values, share, seed)
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
@_jobs_option("Runs")
@click.option(
    "-o", "output", type=NEW_PATH, help="Where the runs go; default: _build/sweep/CHAPTER."
)
@click.option("--html", is_flag=True, help="Make a page of each run, too.")
@click.pass_obj
def sweep(project, chapter, pairs, file, profile, n_parallel, output, html):
    """Run CHAPTER once for each value of a parameter, and compare the claims on one page.

    With several swept parameters there is a run for each combination. For a parameter that is a
    list, each element is a run, and [2,3],[5] is one run with both 2 and 3 and one with 5. A single
    value is the same in all runs. All is checked before anything runs; runs whose parameters and
    sources have not changed are used again.

    Four runs: `book sweep cia/learners -p seed 1,2,3,4`.
    """
    from lib.book.run import history
    from lib.book.run.jobs import locked, run_all
    from lib.book.sweep import page as sweep_page
    from lib.book.sweep import plan as sweep_plan

    folder = (output or project.root / "_build" / "sweep" / chapter).resolve()
    profile_values = project.profile(profile, chapter) if profile else {}
    file_values = read_mapping(file) if file else {}
    planned_runs = sweep_plan.plan_runs(
        project, chapter, folder, pairs, profile_values, file_values
    )
    runs = {run.name: run for run in planned_runs}
    sweep_plan.claim_folder(folder, chapter)
    click.get_current_context().with_resource(locked(folder))
    sweep_plan.announce(planned_runs)
    commit = history.commit(project)

    def make_page(run):
        return sweep_page.make_page(project, run, commit)

    try:
        run_all(project, runs, n_parallel, make_page if html else None)
    finally:
        # also of what has finished when a run fails or the command is interrupted
        summary = sweep_page.write_pages(
            project,
            folder,
            chapter,
            list(runs.values()),
            commit,
        )
        click.echo(f"comparison: {folder / 'index.html'}")
        click.echo(summary)


@cli.command()
@chapters_argument
@published_option
@_jobs_option("Chapters")
@click.option(
    "--strict",
    is_flag=True,
    help="A warning is an error; at the published scale, so is an unrecorded verdict.",
)
@click.option("--pdf", "print_pdf", is_flag=True, help="Print the PDF, if pages have changed.")
@click.pass_obj
def build(project, chapters, profile, n_parallel, strict, print_pdf):
    """Execute what has changed and build the pages that show it.

    At the published scale there are pages of the stored run first, and at the end it says which
    numbers and verdicts are as published.

    With CHAPTERS, only these are executed, and the pages are built if the others are up to date.
    """
    from lib.book.pages import runs, site
    from lib.book.paper.pdf import make_pdf, pdf_of
    from lib.book.run import environment, history, jobs
    from lib.book.verdicts import assertions, chapter_claims, reproduced
    from lib.book.verdicts import register as registry

    is_published = profile == PUBLISHED
    plan = jobs.plan_jobs(project, profile, chapters or project.chapters)
    with _errors_as_warnings(strict):
        environment.require_locked(project.root / "requirements.lock")
    folder = project.build_folder(profile)
    click.get_current_context().with_resource(jobs.locked(folder))
    site.put_pages_aside(project, profile)  # no page outlives its results
    if is_published and any(jobs.is_stale(project, job) for job in plan.values()):
        click.echo("building the pages of the published run, which the notebooks store ...")
        with _errors_as_warnings(strict):  # an older press may have stored it
            page = site.build_site(project, profile, stored=True)
            click.echo(f"open {page}; now the chapters are executed here")
    jobs.run_all(project, plan, n_parallel)
    commit = history.commit(project)
    jobs.require_fresh(project, profile)
    runs.note_commit(project, profile, history.commit_since(project, commit))
    claims = chapter_claims.read_claims(project, profile)
    if is_published:
        with _errors_as_warnings(strict):
            chapter_claims.require_same_verdicts(project, claims)
        with _errors_as_warnings(strict):
            registry.require_registered(project, claims)
        with _errors_as_warnings(strict):
            assertions.require_assertions(project, profile)
        with _errors_as_warnings():  # also in a strict build: it is said, and no fault
            chapter_claims.require_stable(claims)
    click.echo("building the pages ...")
    page = site.build_site(project, profile, strict)
    if print_pdf and not pdf_of(project, profile).exists():
        click.echo("printing the PDF ...")
        with _errors_as_warnings():  # also in a strict build: not everyone has the browser
            click.echo(f"PDF: {make_pdf(project, profile)}")
    if is_published:
        for line in reproduced.reproduction_lines(project):
            click.echo(line)
    click.echo(f"open {page}")


@cli.command()
@published_option
@click.option(
    "--record",
    "write_verdicts",
    is_flag=True,
    help="Record the published verdicts in chapters/verdicts.yml.",
)
@click.pass_obj
def claims(project, profile, write_verdicts):
    """Show every claim of the last build with its settings, and the verdict of the one that decides."""
    from lib.book.run import jobs
    from lib.book.verdicts import chapter_claims
    from lib.claims import estimate, rerun_words

    if write_verdicts and profile != PUBLISHED:
        raise BookError(f"only verdicts of profile {PUBLISHED} are recorded")
    jobs.require_fresh(project, profile)
    claims = chapter_claims.read_claims(project, profile)
    deciding = {setting["id"] for setting in chapter_claims.deciding_settings(claims)}
    for claim in claims:
        click.echo(f"{claim['id']}: {claim['sentence']}")
        for setting in claim["settings"]:
            words = estimate(setting)
            if setting["rerun_chance"] is not None:
                words += f"; the same verdict in a re-run: {rerun_words(setting)}"
            verdict = setting["verdict"] if setting["id"] in deciding else ""
            click.echo(f"  {verdict:15}  {setting['id']}: {words}")
    if write_verdicts:
        chapter_claims.write_verdicts(project, claims)
        click.echo(f"recorded {len(deciding)} verdicts in {chapter_claims.FILE}")


@cli.command()
@chapters_argument
@click.pass_obj
def register(project, chapters):
    """Note when the rules of CHAPTERS' claims (all, if none is named) were fixed.

    In chapters/registered.yml a setting that is new gets the date, and whether results of it are
    here already: a recorded verdict, or an interval in the notebook, as stored or as executed. A
    changed rule, margin or scale is noted as well. data/registered/ gets a copy of this day.
    """
    from lib.book.verdicts.register import register

    for line in register(project, chapters or project.chapters) or ["nothing is new"]:
        click.echo(line)


@cli.command()
@click.argument("name", metavar="PART/NAME")
@click.option("--title", default="A new chapter", help="Its heading.")
@click.option(
    "--paper",
    default="groveroth1997",
    help="Key in references.bib of the paper whose claim it tests.",
)
@click.pass_obj
def new(project, name, title, paper):
    """Add a chapter: a small notebook with an experiment and a claim, which passes `make test`.

    PART is the folder of other chapters, such as cia, or a new part. The chapter is listed in the
    contents and has a quick scale, at which it is run, and an entry of its claim in
    chapters/registered.yml. What is left to do is said at the end.
    """
    from lib.book.new_chapter import new_chapter

    click.echo(new_chapter(project, name, title, paper))


@cli.command()
@click.argument("chapters", nargs=-1, required=True)
@click.pass_obj
def record(project, chapters):
    """Record the rows of CHAPTERS, as they are published, for builds that lack unshipped data.

    They must all be here. Blocks that a build has stored are not run again. Rows name the commit
    that they are of: no file but other records may differ from it.
    """
    from lib.book.run import blocks
    from lib.book.run.jobs import lock_of

    for chapter in [project.find(name) for name in chapters]:
        with lock_of(project, project.record(chapter)):
            click.echo(f"recorded: {blocks.record(project, chapter)}")


@cli.command()
@click.pass_obj
def findings(project):
    """Copy the sentences that README and pages repeat from the last published run."""
    from lib.base.files import write_whole
    from lib.book.pages.book import Book
    from lib.book.run.jobs import require_fresh

    require_fresh(project, PUBLISHED)
    book = Book(project, PUBLISHED)
    for path in (project.root / "README.md", *project.pages):
        text = book.filled(path)
        if text != path.read_text(encoding="utf-8"):
            write_whole(path, text)
            click.echo(f"written: {path}")


@cli.command()
@published_option
@click.pass_obj
def pdf(project, profile):
    """Print the pages of the last build into one PDF beside them (needs the browser Chromium)."""
    from lib.book.paper.pdf import make_pdf
    from lib.book.run.jobs import require_fresh

    require_fresh(project, profile)
    click.echo(f"open {make_pdf(project, profile)}")


@cli.command()
@chapters_argument
@_jobs_option("Chapters")
@click.pass_obj
def publish(project, chapters, n_parallel):
    """Run CHAPTERS (all, if none is named) as published, and store the outputs in their notebooks.

    These are what GitHub, JupyterLab and the pages of a new clone show. Runs and blocks that are
    stored are used again; look at the difference before you commit it.
    """
    from lib.book import publish
    from lib.book.run import history, jobs

    names = chapters or project.chapters
    commit = history.commit(project)  # before this command writes notebooks
    for chapter in names:
        publish.prepare(project, chapter)
    plan = jobs.plan_jobs(project, PUBLISHED, names)
    click.get_current_context().with_resource(jobs.locked(project.build_folder(PUBLISHED)))
    jobs.run_all(project, plan, n_parallel)
    for job in plan.values():
        click.echo(f"published: {publish.publish(project, job, commit)}")


@cli.command()
@chapters_argument
@click.pass_obj
def refresh(project, chapters):
    """Run CHAPTERS (all, if none is named) at the quick scale, and store what the tests compare.

    The outputs go into tests/quick/; look at the difference before you commit it.
    """
    from lib.book import quick
    from lib.book.run.jobs import lock_of

    for chapter in chapters or project.chapters:
        with lock_of(project, quick.quick_outputs(project, chapter)):
            click.echo(f"stored: {quick.refresh(project, chapter)}")


@contextmanager
def _errors_as_warnings(strict: bool = False):
    """Print a BookError as a warning and go on, unless the build is strict."""
    try:
        yield
    except BookError as error:
        if strict:
            raise
        click.secho(f"Warning: {error.message}", fg="yellow", err=True)


def _values(project: Project, chapter: str, profile, file, pairs, engine) -> dict:
    """Return the checked values that the options of a command set; a later source wins."""
    parameters = parameters_of(project, chapter)
    profile_values = project.profile(profile, chapter) if profile else {}
    options = {}
    with errors_name(chapter):
        for name, text in pairs:
            # a name that is no parameter is an error below, with those of the file
            options[name] = parameters[name].parse(text) if name in parameters else text
        if engine and "engine" in parameters:
            options["engine"] = check_engine(engine)
    file_values = read_mapping(file) if file else {}
    overrides, _ = resolve_parameters(project, chapter, profile_values, file_values, options)
    return overrides


def main() -> None:
    """Run the command; Ctrl-C ends it with exit code 130."""
    try:
        # click's own handling would end an interrupted command with 1, and an OSError with a trace
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
