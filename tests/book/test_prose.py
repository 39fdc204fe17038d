"""One word means one thing on all pages; CONTRIBUTING has the list."""

import json
import re

from conftest import REPOSITORY

# what no page calls so, and what it is called
TWINS = {
    r"hold-?outs?": "test set",
    r"test data": "test set",
    r"training data": "training set",
    r"data points?": "example",
    r"datasets?": "data set",
    r"CPTs?": "table",
    r"error bars?": "interval",
    r"scenarios?": "setting",
    r"random nets?": "random network",
    r"(general|normal|analy|organ|optim|minim|maxim)[iy]z\w+": "British spelling",
    r"\w*(behavior|color|favor|labeled|modeling)\w*": "British spelling",
}
# code, quoted words, and the targets of links and roles
APART = re.compile(
    r"```.*?```|`[^`]*`|“[^”]*”|\"[^\"]*\"|\]\([^)]*\)|<[^>]*>|\{#[^}]*\}", re.DOTALL
)


def pages() -> dict[str, str]:
    """Return what each page says, texts and what cells display, by its path."""
    texts = {}
    for path in [REPOSITORY / "README.md", *(REPOSITORY / "chapters").rglob("*.md")]:
        texts[path] = path.read_text(encoding="utf-8")
    for path in (REPOSITORY / "chapters").rglob("*.ipynb"):
        passages = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                passages.append("".join(cell["source"]))
            for output in cell.get("outputs", []):
                passages.append("".join(output.get("data", {}).get("text/markdown", "")))
        texts[path] = "\n".join(passages)
    return {str(path.relative_to(REPOSITORY)): text for path, text in texts.items()}


def test_no_page_has_a_second_word_for_a_thing():
    found = []
    for name, text in pages().items():
        prose = APART.sub("", text)
        for twin, word in TWINS.items():
            for match in re.finditer(rf"\b(?:{twin})\b", prose, re.IGNORECASE):
                context = prose[max(0, match.start() - 30) : match.end() + 20].replace("\n", " ")
                found.append(f"{name}: {context!r}: say {word}")
    assert not found, "\n".join(found)
