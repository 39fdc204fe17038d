"""Violations of WCAG 2.2 AA that axe-core finds on the page that is open."""

from pathlib import Path

AXE = Path(__file__).with_name("axe") / "axe.min.js"
EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# The rules that look at colours: all that another theme can break.
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """async (runOnly) => {
  const results = await axe.run(document, { runOnly, resultTypes: ["violations"] });
  const line = (rule, node) => [rule, node.target.join(" "), node.failureSummary];
  return results.violations.flatMap(({ id, nodes }) => nodes.map((node) => line(id, node)));
}"""


def violations(page, rules=EVERYTHING):
    """One line each: rule, element, what axe says about it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    lines = []
    for rule, element, summary in page.evaluate(RUN, rules):
        lines.append(f"{rule}: {element}: {' '.join(summary.split())}")
    return lines
