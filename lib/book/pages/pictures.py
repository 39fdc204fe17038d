"""Figures on a page: a light and a dark copy of each, and narrow copies of both for phones."""

import posixpath
import re
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from lib.book.rendering import render

_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')


class picture(nodes.General, nodes.Inline, nodes.Element):  # noqa: N801 - as docutils names nodes
    """A figure in variants: `paths` and `sizes` have an entry for each."""


class DrawVariants(SphinxPostTransform):
    """Replace each SVG figure of matplotlib by its variants; other images stay as they are."""

    default_priority = 250  # after MyST-NB has chosen what to show of each output
    formats = ("html",)

    def run(self, **options):
        """Replace the figures of a page."""
        for image in list(self.document.findall(nodes.image)):
            # Of an image of another host, Sphinx has no file.
            path = Path(self.env.srcdir, image.get("candidates", {}).get("*", ""))
            if path.suffix == ".svg" and path.is_file():
                self._replace(image, path)

    def _replace(self, image, path: Path) -> None:
        # Imported here, because it imports seaborn, which takes a moment.
        from lib.figures.themes import colour_variants

        variants = colour_variants(path.read_text(encoding="utf-8"))
        if not variants:
            return
        node = picture(
            alt=image.get("alt"), classes=image["classes"], ids=image["ids"], paths={}, sizes={}
        )
        for name, svg in variants.items():
            variant_path = path.with_name(f"{path.stem}-{name}.svg")
            variant_path.write_text(svg, encoding="utf-8")
            node["paths"][name] = str(variant_path)
            sides = _SIZE.findall(svg.partition(">")[0])
            node["sizes"][name] = {side: round(float(size)) for side, size in sides}
            self.env.images.add_file(self.env.docname, str(variant_path))
            # what the builder copies when the pages are written
            _, file_name = self.env.images[str(variant_path)]
            self.app.builder.images[str(variant_path)] = file_name
        image.replace_self(node)


def visit_picture(translator, node) -> None:
    """Write the variants of a figure as HTML, in a link to the picture unless it is in another."""
    builder = translator.builder
    addresses = {
        name: posixpath.join(builder.imgpath, quote(builder.images[path]))
        for name, path in node["paths"].items()
    }
    html = render(
        "figure.html",
        addresses=addresses,
        sizes=node["sizes"],
        alt=node["alt"],
        classes=" ".join(node["classes"]),
        is_linked=isinstance(node.parent, nodes.reference),
    )
    translator.body.append(html)
    raise nodes.SkipNode
