"""Figures on a page: their two variants, what keeps its colours, and the box they are in."""

import io
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx.util import FilenameUniqDict

from lib.base.colour import contrast
from lib.book.pages.pictures import DrawVariants, picture, visit_picture
from lib.figures.narrow import (
    PAD,
    WIDTH,
    _legend_columns,
    _set_legend_columns,
    make_narrow,
    with_narrow,
)
from lib.figures.themes import INK, PAGE, colour_variants, dark

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(figure):
    text = io.StringIO()
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "tests"}):
        figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()


def count_paths_and_uses(svg):
    """Return how many paths an SVG has, and how many places where one of its symbols is used."""
    tags = [node.tag for node in ElementTree.fromstring(svg).iter()]
    return tags.count(f"{SVG}path"), tags.count(f"{SVG}use")


@pytest.fixture(scope="module")
def curve():
    """A line with markers and error bars, words, a legend, a grid and a raster."""
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.errorbar(
        range(200), np.sqrt(range(200)), yerr=1, marker="o", color="#0072B2", label="a line"
    )
    axis.imshow(np.arange(9.0).reshape(3, 3), extent=(0, 9, 0, 9))
    axis.grid()
    axis.set(title="$x_0$ and words", xlabel="examples")
    axis.legend()
    return svg_of(figure)


def test_dark_colours_can_be_seen_and_keep_order_and_hue():
    assert dark("#000000").lower() == INK.lower()
    assert dark("#ffffff").lower() == PAGE.lower()
    greys = [f"#{value:02x}{value:02x}{value:02x}" for value in range(0, 256, 15)]
    contrasts = [contrast(dark(grey), PAGE) for grey in greys]
    # what is darker by day stands out as much more at night
    assert contrasts == sorted(contrasts, reverse=True)
    assert dark("#56b4e9") == "#56b4e9"  # can be seen as it is
    red, green, blue = (int(dark("#332288")[i : i + 2], 16) for i in (1, 3, 5))
    assert blue > red > green


class TestVariants:
    def test_nothing_is_lost_but_backgrounds_and_nothing_differs_but_colours(self, curve):
        variants = colour_variants(curve)
        light, night = (re.sub("#[0-9a-fA-F]{6}", "", svg) for svg in variants.values())
        assert light == night
        assert "fill: #000000" in variants["light"]
        assert f"fill: {INK}".lower() in variants["dark"]
        raster = "".join(re.search(r'href="(data:image/png;base64,[^"]+)"', curve)[1].split())
        transforms = r"(?:scale|rotate)\([^)]*\)"
        paths, uses = count_paths_and_uses(curve)
        for svg in variants.values():
            # the two backgrounds are of the figure and of its axes
            assert count_paths_and_uses(svg) == (paths - 2, uses)
            assert raster in "".join(svg.replace("&#10;", "").split())
            assert re.findall(transforms, svg) == re.findall(transforms, curve)

    def test_what_is_marked_keeps_its_colours(self):
        figure, axis = plt.subplots()
        axis.set_axis_off()
        bars = axis.bar([0], [1], color="#112244")
        white = axis.text(0, 0.5, "white", color="white")
        black = axis.text(0, 0.7, "black")
        for artist in (*bars, white, black):
            artist.set_gid("fixed-colours")
        axis.text(1, 0.5, "not marked", color="#010101")
        night = colour_variants(svg_of(figure))["dark"]
        for colour in ("#112244", "#ffffff", "#000000", dark("#010101")):
            assert f"fill: {colour}" in night

    @pytest.mark.parametrize(
        "text", ["", "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "Matplotlib <svg"]
    )
    def test_what_matplotlib_did_not_draw_has_none(self, text):
        assert colour_variants(text) == {}


class TestPage:
    """The image of a document, of which the extension makes variants."""

    @pytest.fixture
    def show(self, tmp_path, curve):
        """Return a function that makes the HTML of an image, perhaps in a link."""
        (tmp_path / "für a.svg").write_text(curve, encoding="utf-8")
        (tmp_path / "own.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")

        def show(source, link="", **attributes):
            document = new_document("page")
            image = nodes.image(uri=source, candidates={"*": source}, **attributes)
            parent = nodes.reference("", "", refuri=link) if link else nodes.paragraph()
            document += parent
            parent += image
            builder = SimpleNamespace(images={}, imgpath="../_images", name="html", format="html")
            images = FilenameUniqDict()
            app = SimpleNamespace(builder=builder)
            document.settings.env = SimpleNamespace(
                srcdir=tmp_path, images=images, docname="page", app=app
            )
            DrawVariants(document).run()
            translator = SimpleNamespace(builder=builder, body=[])
            for node in parent.findall(picture):
                with pytest.raises(nodes.SkipNode):
                    visit_picture(translator, node)
            return "".join(translator.body)

        return show

    def test_the_page_has_both_variants_in_one_link(self, show):
        page = show("für a.svg", alt='A "curve"')
        assert page.startswith('<span class="picture"><a ')
        assert page.endswith("</picture></a></span>")
        assert page.count("<a ") == page.count("</a>") == 1
        assert 'href="../_images/f%C3%BCr%20a-light.svg"' in page
        for theme in ("light", "dark"):
            (image,) = re.findall(rf"<img [^>]*only-{theme}[^>]*>", page)
            assert f'src="../_images/f%C3%BCr%20a-{theme}.svg"' in image
            assert 'alt="A &#34;curve&#34;" width="576" height="288" loading="lazy"' in image

    def test_a_phone_has_the_narrow_one(self, show, tmp_path):
        figure, _ = plt.subplots(1, 2, figsize=(7, 3))
        (tmp_path / "two.svg").write_text(with_narrow(figure), encoding="utf-8")
        plt.close(figure)
        page = show("two.svg", alt="two")
        for theme in ("light", "dark"):
            address = f"../_images/two-narrow-{theme}.svg"
            (narrow_width,) = re.findall(rf'<source [^>]*srcset="{address}" width="(\d+)"', page)
            wide_width = re.search(r'<img [^>]*width="(\d+)"', page)[1]
            # 96 pixels an inch
            assert int(narrow_width) <= 96 * WIDTH + 1 < int(wide_width)
            svg = (tmp_path / f"two-narrow-{theme}.svg").read_text(encoding="utf-8")
            assert "metadata" not in svg
        assert 'media="screen and' in page  # and not on paper

    def test_a_link_around_the_picture_is_kept(self, show):
        assert "<a " not in show("für a.svg", link="x.html", alt="")
        assert 'aria-label="The picture alone"' in show("für a.svg")

    @pytest.mark.parametrize(
        "source", ["logo.png", "https://example.org/a.svg", "gone.svg", "own.svg"]
    )
    def test_other_images_stay_as_they_are(self, show, source):
        assert show(source, alt="x") == ""


class TestNarrow:
    def panels(self):
        figure, axes = plt.subplots(1, 3, figsize=(7.4, 2.5), sharey=True, layout="constrained")
        for axis in axes:
            axis.plot([0, 10], [0, 1], label="a learner with a long name")
        axes[0].set(
            ylabel="error", title="a title of very many words that one narrow panel has no room for"
        )
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return figure, axes

    def test_panels_stand_below_one_another_in_the_column_their_words_as_large_as_before(self):
        figure, axes = self.panels()
        texts = (axes[0].title, *figure.legends[0].texts)
        sizes = [text.get_fontsize() for text in texts]
        make_narrow(figure)
        figure.draw_without_rendering()
        assert figure.get_tightbbox().width <= WIDTH - PAD
        texts = (axes[0].title, *figure.legends[0].texts)
        assert [text.get_fontsize() for text in texts] == sizes
        assert "\n" in axes[0].get_title()
        first, second, third = [axis.get_position() for axis in axes]
        assert third.y1 < min(first.y0, second.y0)
        # the third panel is the first of its row, so it has an axis of its own
        assert axes[2].get_ylabel() == "error"
        assert axes[2].yaxis.get_major_ticks()[0].label1.get_visible()
        plt.close(figure)

    def test_the_figure_itself_is_left_as_it_is(self):
        figure, axes = self.panels()
        size = figure.get_size_inches().tolist()
        open_figures = plt.get_fignums()
        svg = with_narrow(figure)
        assert figure.get_size_inches().tolist() == size
        assert plt.get_fignums() == open_figures
        assert axes[2].get_ylabel() == ""
        assert set(colour_variants(svg)) == {"light", "dark", "narrow-light", "narrow-dark"}
        plt.close(figure)

    def test_the_boxes_of_a_legend_can_be_filled_anew(self):
        """What `get_children` of matplotlib's boxes returns is the list itself, the title first.

        Nothing public lays out a legend again. If this fails, a narrow legend keeps its columns.
        """
        figure, axes = self.panels()
        for i in range(4):
            axes[0].plot([0, 1], label=f"line {i}")
        legend = axes[0].legend(ncols=3, title="a title")
        width = legend.get_window_extent().width

        def entries_of_columns():
            return [len(column.get_children()) for column in _legend_columns(legend)]

        assert entries_of_columns() == [2, 2, 1]
        _set_legend_columns(legend, 2)
        assert entries_of_columns() == [3, 2]
        _set_legend_columns(legend, 1)
        assert entries_of_columns() == [5]
        assert legend.get_window_extent().width < width
        names = [f"line {i}" for i in range(4)]
        assert [text.get_text() for text in legend.get_texts()][1:] == names
        assert legend.get_title().get_text() == "a title"
        figure.draw_without_rendering()
        tops = [text.get_window_extent().y1 for text in legend.get_texts()]
        assert tops == sorted(tops, reverse=True)
        plt.close(figure)

    def test_a_title_on_the_left_is_broken_too(self):
        """Matplotlib's only public way to it is the list of an axis's children."""
        figure, axes = self.panels()
        axes[1].set_title("a title on the left of very many words, more than fit", loc="left")
        make_narrow(figure)
        assert "\n" in axes[1].get_title(loc="left")
        plt.close(figure)

    def test_names_that_run_into_each_other_stand_upright(self):
        figure, axis = plt.subplots(figsize=(8, 3))
        axis.bar([f"data set {i}" for i in range(9)], range(9))
        make_narrow(figure)
        figure.draw_without_rendering()
        assert {name.get_rotation() for name in axis.get_xticklabels()} == {90}
        plt.close(figure)
