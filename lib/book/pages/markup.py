"""Small changes of what Sphinx and MyST-NB write as HTML, by visitors of their nodes."""

from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace
from sphinx.writers.html5 import HTML5Translator

UNSTYLED = (Name, Punctuation, Whitespace)


def setup(app) -> None:
    """Let the visitors take the place of those of the packages."""
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_HideCellInput))
    app.connect("builder-inited", highlight_lean)
    app.add_node(nodes.citation, override=True, html=(visit_entry, depart_entry))


def visit_fold(translator, node) -> None:
    """Begin folded code. Its name is the text that it shows; MyST-NB has one name for all folds."""
    classes = " ".join(node["classes"])
    translator.body.append(f'<details class="admonition hide {classes}">\n<summary>\n')
    for state, prompt in (("collapsed", "prompt_show"), ("expanded", "prompt_hide")):
        text = escape(node[prompt])
        translator.body.append(f'<p class="{state} admonition-title">{text}</p>\n')
    translator.body.append("</summary>\n")


def visit_entry(translator, node) -> None:
    """Begin an entry of the bibliography, an item of a list.

    docutils gives it a role that belongs into a list of another role than the one around it.
    """
    HTML5Translator.visit_citation(translator, node)
    translator.body[-1] = translator.body[-1].replace("doc-biblioentry", "listitem")


def depart_entry(translator, node) -> None:
    """End an entry of the bibliography."""
    HTML5Translator.depart_citation(translator, node)


class LeanFormatter(HtmlFormatter):
    """Highlights code without marks for names, punctuation and spaces.

    These look as code does without a style, and are a third of a chapter's page.
    """

    def format(self, tokensource, outfile):
        """Write tokens as HTML."""
        tokens = ((Text if kind in UNSTYLED else kind, value) for kind, value in tokensource)
        super().format(tokens, outfile)


def highlight_lean(app) -> None:
    """Let the builder of HTML highlight code with few marks."""
    if app.builder.format == "html":
        app.builder.highlighter.formatter = LeanFormatter
