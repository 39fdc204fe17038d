"""What the cells of a chapter display, as parts of the text of its page."""

import ast
import re
from collections import Counter
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.book.run.project import FINDING_CELL
from lib.book.verdicts.chapter_claims import claims_in
from lib.claims import KINDS, overall

SUMMARY = "summary"  # tag of the cell whose text the page shows below its title
LEAD = "lead"  # tag of the cell whose picture opens the page
HIDDEN = "remove-input"
WHOLE = ("hide-cell", "hide-output")  # tags of cells that hide what they display, too

# a link to a figure, a table or a work; code, inline or in a block, is left alone
LINK = re.compile(
    r"""
    (?P<code> ^(?P<fence>`{3,})\w.*?^(?P=fence) | `[^`\n]+` )
    | \[ (?P<words>[^\]]*) \]\(
      (?:
        (?P<path>[\w./-]+\.ipynb)? \# (?P<label>(?:fig|tbl)-[\w-]+)
        | (?:\.\./)*references\.md \# (?P<work>[\w-]+)
      )
      \)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
TABLE_NAME = re.compile(r"^:name: (\S+)$", re.MULTILINE)
SECTION = re.compile(r"^## ", re.MULTILINE)
TITLE = re.compile(r"^# .*\n?", re.MULTILINE)
# singular and plural of the kinds that have two forms
WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "table": ("table", "tables")}


def arrange_reports(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a chapter in the order of its page, what they display as cells of text.

    The page begins with the title, the first passage, the summary, a line that counts the claims
    and the picture of the cell tagged ``lead``, which stands in its own place once more.
    """
    page = []
    summary = []
    lead = []
    for cell in cells:
        if cell.get("id") == FINDING_CELL:
            continue  # what the summary of this run says stands there instead
        tags = cell.metadata.get("tags", [])
        pieces = _pieces(cell) if cell.cell_type == "code" else [cell]
        for piece in pieces:
            kind = piece.metadata.pop("report", None)
            if kind == "figure" and LEAD in tags and not lead:
                lead.append(piece)
                page += _once_more(piece)
            elif kind == "text" and SUMMARY in tags:
                summary.append(piece)
            else:
                page.append(piece)
    if summary:
        summary += _claims_line(cells)

    first = next((n for n, cell in enumerate(page) if cell.cell_type == "markdown"), None)
    if first is None:
        return page
    opening, sections = _split(page[first].source, SECTION)
    title = TITLE.match(opening)
    title = title[0] if title else ""
    top = [new_markdown_cell(title), new_markdown_cell(opening[len(title) :]), *summary, *lead]
    if sections:
        top.append(new_markdown_cell(sections))
    page = [*top, *page[:first], *page[first + 1 :]]
    page = [cell for cell in page if cell.source or _outputs(cell)]
    _mend_cells(page)
    return page


def fold_name(cell: NotebookNode) -> str:
    """Return what the fold of a cell is called: what its code says that it does."""
    comment = re.search(r"^# (.+)", cell.source, re.MULTILINE)
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:  # a command of IPython
        tree = ast.Module([], [])
    docstrings = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            docstrings.append(ast.get_docstring(node))
    sentences = [*docstrings, *([comment[1]] if comment else [])]
    if sentences:
        words = " ".join(sentences[0].replace("`", "").split())
        sentence = re.split(r"(?<!\.)[.;:](?:\s|$)", words, maxsplit=1)[0]
        return sentence[0].upper() + sentence[1:]
    if "report.figure(" in cell.source:
        return "How this figure is made"
    if "report.table(" in cell.source:
        return "How this table is made"
    if ".test(" in cell.source:
        return "How the claims are tested"
    is_import = any(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
    return "Imports and settings" if is_import else "How this is computed"


def summary_of(notebook: NotebookNode) -> str:
    """Return the text that a notebook's summary displays; empty if it has none."""
    for cell in notebook.cells:
        if SUMMARY in cell.metadata.get("tags", []):
            for output in cell.outputs:
                return output.data["text/markdown"]
    return ""


def _report(output: NotebookNode) -> dict:
    return output.get("metadata", {}).get("report", {})


def _outputs(cell: NotebookNode) -> list:
    return cell.get("outputs", [])


def _split(text: str, pattern: re.Pattern) -> tuple[str, str]:
    """Return a text up to where a pattern first matches, and the rest."""
    match = pattern.search(text)
    place = match.start() if match else len(text)
    return text[:place], text[place:]


def _pieces(cell: NotebookNode) -> list[NotebookNode]:
    """Return the code of a cell, then each thing that it displays, in cells of their own."""
    tags = cell.metadata.get("tags", [])
    if "remove-cell" in tags:
        return [cell]
    if set(WHOLE) & set(tags):
        cell.metadata["mystnb"] = {"markdown_format": "myst"}  # of outputs, which stay in the fold
        for output in cell.outputs:
            if _report(output).get("kind") == "table":
                output.data["text/markdown"] = _table(_report(output), _markdown(output))
        return [cell]
    code = new_code_cell(cell.source, metadata=dict(cell.metadata))
    pieces = [code]
    for output in cell.outputs:
        report = _report(output)
        kind = report.get("kind")
        if kind == "caption":
            continue
        if kind == "figure":
            piece = _output_cell(output)
            figure = {"caption": report["caption"], "name": report["name"]}
            piece.metadata["mystnb"] = {"figure": figure, "image": {"alt": report["alt"]}}
        elif kind == "table":
            piece = new_markdown_cell(_table(report, _markdown(output)))
        elif kind == "claims":
            piece = new_markdown_cell(f'<a id="claims"></a>\n\n{_markdown(output)}')
        elif kind == "text":
            piece = new_markdown_cell(_markdown(output))
        elif pieces[-1].cell_type == "code" and "report" not in pieces[-1].metadata:
            pieces[-1].outputs.append(output)
            continue
        else:
            piece = _output_cell(output)
        if kind:
            piece.metadata["report"] = kind
        pieces.append(piece)
    if HIDDEN in tags and not code.outputs:
        pieces.remove(code)
    return pieces


def _output_cell(output: NotebookNode) -> NotebookNode:
    """Return a cell that shows an output only; MyST-NB passes over one without any code."""
    return new_code_cell("# shown above", outputs=[output], metadata={"tags": [HIDDEN]})


def _once_more(figure: NotebookNode) -> list[NotebookNode]:
    """Return the picture of a figure without a number, and a line that says which it is."""
    name = figure.metadata["mystnb"]["figure"]["name"]
    picture = deepcopy(figure)
    del picture.metadata["mystnb"]["figure"]
    picture.metadata["tags"] = [*picture.metadata["tags"], "screen-only"]
    return [picture, new_markdown_cell(f"{{.screen-only}}\n*[Figure](#{name}), once more.*")]


def _markdown(output: NotebookNode) -> str:
    return output["data"]["text/markdown"].strip()


def _table(report: dict, text: str) -> str:
    """Return a table with its caption as MyST; below the first paragraph stand its lines."""
    caption = " ".join(report["caption"].split())
    lines = text.partition("\n\n")[2]
    return f"`````{{table}} {caption}\n:name: {report['name']}\n\n{lines}\n`````"


def _claims_line(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return a cell with one line that counts the claims by verdict; none without claims."""
    claims = claims_in(new_notebook(cells=cells))
    counts = Counter(overall(claim) for claim in claims)
    phrases = []
    for verdict in KINDS:
        if counts[verdict]:
            singular, plural = WORDS.get(verdict, (verdict, verdict))
            phrases.append(f"{counts[verdict]} {singular if counts[verdict] == 1 else plural}")
    if not phrases:
        return []
    line = f'<a href="#claims">Claims</a>: {", ".join(phrases)}.'
    return [new_markdown_cell(line)]


def mend_links(text: str, labels: set[str]) -> str:
    """Return a text whose links to figures, tables and works are numbered and listed by Sphinx.

    Parameters
    ----------
    text : str
        Markdown.
    labels : set of str
        The figures and tables of its page. A link to another, that this run has not, is words.
    """

    def mend(match: re.Match) -> str:
        words, label, work = match["words"], match["label"], match["work"]
        if work:
            return f"{{cited}}`{words} <{work}>`"
        if label:
            return f"{{numref}}`{label}`" if match["path"] or label in labels else words
        return match[0]

    return LINK.sub(mend, text)


def _mend_cells(page: list[NotebookNode]) -> None:
    """Mend the links in the text and the captions of a page's cells, which are changed."""
    figures = [cell.metadata.get("mystnb", {}).get("figure", {}) for cell in page]
    labels = {figure["name"] for figure in figures if figure}
    texts = [cell.source for cell in page] + [_markdown(output) for output in _folded(page)]
    for text in texts:
        labels.update(TABLE_NAME.findall(text))
    for figure in figures:
        if figure:
            figure["caption"] = mend_links(figure["caption"], labels)
    for cell in page:
        if cell.cell_type == "markdown":
            cell.source = mend_links(cell.source, labels)
    for output in _folded(page):
        output.data["text/markdown"] = mend_links(_markdown(output), labels)


def _folded(page: list[NotebookNode]) -> list[NotebookNode]:
    """Return the Markdown that stays an output, as it is folded with the code that displays it."""
    outputs = [output for cell in page for output in _outputs(cell)]
    return [output for output in outputs if "text/markdown" in output.get("data", {})]
