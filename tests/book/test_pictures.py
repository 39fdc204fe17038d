"""Figures on a page: their two variants, what keeps its colours, and the box they are in."""

import io
import re
from xml.etree import ElementTree

import matplotlib
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from lib import figures
from lib.book.pictures import LEAST_SCALE, adapt
from lib.book.svg import INK, PAGE, colour_variants, compact_path, dark
from lib.colour import contrast
from lib.figures.style import keep_colours

LEARNER_COLOURS = sorted({colour for _, colour, _, _ in figures.LEARNERS.values()})
NEEDED = 3  # what WCAG asks of what is drawn


def drawn(figure):
    text = io.StringIO()
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "tests"}):
        figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()


@pytest.fixture(scope="module")
def curve():
    """A line with markers and error bars, words, a legend and a grid."""
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.errorbar(range(200), np.sqrt(range(200)), yerr=1, **figures.look("em"))
    axis.hlines([1, 2, 3], 0, 9, color="#123456")
    axis.grid()
    axis.set(title="$x_0$ and words", xlabel="examples")
    axis.legend()
    return drawn(figure)


@pytest.fixture(scope="module")
def cells():
    """A black and a white word on a dark cell, marked as belonging together, and a black word beside them."""
    figure, axis = plt.subplots()
    axis.set_axis_off()
    axis.bar([0], [1], color="#112244")
    axis.text(0, 0.5, "marked", color="white")
    axis.text(0, 0.7, "marked too", color="black")
    keep_colours(axis, [*axis.patches, *axis.texts])
    axis.text(1, 0.5, "not marked", color="black")
    return drawn(figure)


def style_sheet(svg):
    """The class names of a variant with their declarations."""
    return dict(re.findall(r"([.\w*]+)\{([^}]*)\}", re.search("<style>(.*?)</style>", svg)[1]))


def references(svg):
    return set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))


@pytest.mark.parametrize("colour", LEARNER_COLOURS)
def test_a_learners_colour_can_be_seen_on_either_page(colour):
    assert contrast(colour, "#ffffff") >= NEEDED
    assert contrast(dark(colour), PAGE) >= NEEDED


@pytest.mark.parametrize(
    "together", [("winnow", "perceptron", "naive_bayes"), ("winnow", "winnow_basic"), ("em", "cov")]
)
def test_learners_that_are_drawn_without_markers_differ_in_their_lines(together):
    assert len({figures.look(name)["linestyle"] for name in together}) == len(together)


class TestDarkColours:
    def test_black_and_white_trade_places(self):
        assert dark("#000000").lower() == INK.lower()
        assert dark("#ffffff").lower() == PAGE.lower()

    def test_greys_keep_their_order_against_the_page(self):
        greys = [f"#{value:02x}{value:02x}{value:02x}" for value in range(0, 256, 15)]
        contrasts = [contrast(dark(grey), PAGE) for grey in greys]
        assert contrasts == sorted(contrasts, reverse=True)

    def test_a_colour_that_can_be_seen_stays_and_another_keeps_its_hue(self):
        assert dark("#56b4e9") == "#56b4e9"
        red, green, blue = (int(dark("#332288")[i : i + 2], 16) for i in (1, 3, 5))
        assert blue > red > green

    def test_contrast(self):
        assert contrast("#000000", "#ffffff") == pytest.approx(21)
        assert contrast("#777777", "#ffffff") == contrast("#ffffff", "#777777") == pytest.approx(4.48, abs=0.01)


class TestVariants:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_less_than_half_of_it_is_left_and_it_is_whole(self, curve, theme):
        small = colour_variants(curve)[theme]
        assert len(small) < 0.6 * len(curve)
        root = ElementTree.fromstring(small)
        ids = [node.get("id") for node in root.iter() if node.get("id")]
        assert len(ids) == len(set(ids))
        assert references(small) == set(ids)
        classes = {node.get("class") for node in root.iter()} - {None}
        assert {f".{name}" for name in classes} <= style_sheet(small).keys()

    def test_nothing_that_is_drawn_is_lost(self, curve):
        def counts(svg):
            nodes = [node.tag.rpartition("}")[2] for node in ElementTree.fromstring(svg).iter()]
            return nodes.count("use"), nodes.count("path")

        uses, paths = counts(curve)
        assert counts(colour_variants(curve)["light"]) == (uses, paths - 2)  # the backgrounds of figure and axes

    def test_they_differ_in_nothing_but_colours(self, curve):
        bodies = {re.sub("<style>.*?</style>", "", svg) for svg in colour_variants(curve).values()}
        assert len(bodies) == 1
        light, night = (style_sheet(svg) for svg in colour_variants(curve).values())
        assert (light["svg"], night["svg"].lower()) == ("fill:#000000", f"fill:{INK}".lower())
        assert light.keys() == night.keys()
        without = [{re.sub("#[0-9a-f]{6}", "", rule) for rule in sheet.values()} for sheet in (light, night)]
        assert without[0] == without[1]

    def test_they_have_no_white_background(self, curve):
        assert "fill:#ffffff" not in style_sheet(colour_variants(curve)["light"]).values()

    def test_they_are_the_same_each_time(self, curve):
        assert colour_variants(curve) == colour_variants(curve)

    def test_what_is_marked_keeps_its_colours(self, cells):
        sheets = {theme: set(style_sheet(svg).values()) for theme, svg in colour_variants(cells).items()}
        fixed = {rule for rule in sheets["light"] & sheets["dark"] if "fill" in rule}
        assert any("#112244" in rule for rule in fixed)
        assert any("#ffffff" in rule for rule in fixed)
        assert "fill:#000000" in fixed
        assert f"fill:{dark('#000000')}" in sheets["dark"]  # the word that is not marked

    def test_a_raster_stays_as_it_is(self):
        figure, axis = plt.subplots()
        axis.imshow(np.arange(9.0).reshape(3, 3))
        svg = drawn(figure)
        raster = re.search(r'href="(data:image/png;base64,[^"]+)"', svg)[1]
        for variant in colour_variants(svg).values():
            assert "".join(raster.split()) in "".join(variant.split())

    @pytest.mark.parametrize("text", ["", "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "Matplotlib <svg"])
    def test_what_matplotlib_did_not_draw_has_none(self, text):
        assert colour_variants(text) == {}


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "M 0 0 \nL 10 0 \nL 10 5 \nz\n",
            "M 1.004 2.006 L 1.014 -3 ",
            "M 0.5 -0.25 Q 1 2 3 4",
            "M 100 100 L 101 101 L 102 102 L 102 102",
            "M 0 0 L 1 1 z M 5 5 L 6 6 C 1 2 3 4 5 6",
            "M -0.001 0 L 1e-05 1",
        ],
    )
    def test_pieces_end_where_they_did(self, path):
        points = end_points(re.sub("1e-05", "0.00001", path))
        np.testing.assert_allclose(end_points(compact_path(path)), points.round(2) + 0, atol=1e-9)

    def test_a_long_path_ends_where_it_did(self):
        points = np.cumsum(np.random.default_rng(0).normal(size=(500, 2)), axis=0)
        path = "M " + " L ".join(f"{x:.6f} {y:.6f}" for x, y in points)
        np.testing.assert_allclose(end_points(compact_path(path)), points.round(2), atol=1e-9)


def end_points(path):
    """Where each piece of a path ends, read as the standard for SVG says."""
    lengths = {"m": 2, "l": 2, "q": 4, "c": 6, "h": 1, "v": 1, "z": 0}
    tokens = re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", path)
    found, here, start, command = [], np.zeros(2), np.zeros(2), ""
    while tokens:
        if tokens[0].isalpha():
            command = tokens.pop(0)
        kind, relative = command.lower(), command.islower()
        numbers = [float(tokens.pop(0)) for _ in range(lengths[kind])]
        if kind == "z":
            here = start
            continue
        origin = here if relative else np.zeros(2)
        if kind in "hv":
            here = here.copy()
            here["hv".index(kind)] = numbers[0] + origin["hv".index(kind)]
        else:
            here = origin + numbers[-2:]
        found.append(here.round(9))
        if kind == "m":
            start, command = here, "l" if relative else "L"
    return np.array(found)


class TestAdapt:
    @pytest.fixture
    def folder(self, tmp_path, curve):
        (tmp_path / "chapters").mkdir()
        (tmp_path / "_images").mkdir()
        (tmp_path / "_images" / "a.svg").write_text(curve, encoding="utf-8")
        return tmp_path / "chapters"

    PAGE = '<figure><img alt="A &quot;curve&quot; &gt; 0" src="../_images/a.svg" /><figcaption>x</figcaption></figure>'

    def test_the_page_has_both_variants_in_one_link(self, folder):
        page = adapt(self.PAGE, folder)
        assert page.startswith('<figure><span class="picture"')
        assert page.endswith("</a></span><figcaption>x</figcaption></figure>")
        assert page.count("<a ") == page.count("</a>") == 1
        assert 'href="../_images/a-light.svg"' in page
        for theme in ("light", "dark"):
            (image,) = re.findall(rf"<img [^>]*only-{theme}[^>]*>", page.replace("&gt;", ""))
            assert f'src="../_images/a-{theme}.svg"' in image
            assert 'alt="A &#34;curve&#34;  0"' in image
            assert 'loading="lazy"' in image

    def test_an_address_may_be_quoted(self, folder):
        images = folder.parent / "_images"
        (images / "a.svg").rename(images / "für zwei.svg")
        page = adapt(self.PAGE.replace("a.svg", "f%C3%BCr%20zwei.svg"), folder)
        assert 'src="../_images/f%C3%BCr%20zwei-dark.svg"' in page
        assert sorted(path.name for path in images.iterdir()) == ["für zwei-dark.svg", "für zwei-light.svg"]

    def test_it_has_the_pictures_own_size(self, folder):
        page = adapt(self.PAGE, folder)
        assert page.count('width="576" height="288"') == 2  # 6 by 3 inches of 96 pixels
        assert f"--least: {576 * LEAST_SCALE:.0f}px" in page

    def test_the_original_goes_and_other_pages_find_the_variants(self, folder):
        first = adapt(self.PAGE, folder)
        images = folder.parent / "_images"
        assert sorted(path.name for path in images.iterdir()) == ["a-dark.svg", "a-light.svg"]
        assert adapt(self.PAGE, folder) == first

    def test_an_adapted_page_stays_as_it_is(self, folder):
        page = adapt(self.PAGE, folder)
        files = {path: path.read_bytes() for path in folder.parent.rglob("*.svg")}
        assert adapt(page, folder) == page
        assert {path: path.read_bytes() for path in folder.parent.rglob("*.svg")} == files

    def test_the_original_stays_where_something_else_uses_it(self, folder):
        adapt(self.PAGE + '<a href="../_images/a.svg">as it was</a>', folder)
        assert (folder.parent / "_images" / "a.svg").exists()

    def test_a_link_around_the_picture_is_kept_or_replaced_but_never_doubled(self, folder):
        kept = adapt('<a href="x.html"><img alt="" src="../_images/a.svg"></a>', folder)
        replaced = adapt('<a class="image-reference" href="../_images/a.svg"><img src="../_images/a.svg"></a>', folder)
        assert [page.count("<a ") for page in (kept, replaced)] == [1, 1]
        assert [page.count("</a>") for page in (kept, replaced)] == [1, 1]
        assert 'href="x.html"' in kept
        assert 'href="../_images/a-light.svg" aria-label="' in replaced

    @pytest.mark.parametrize("source", ["logo.png", "https://example.org/a.svg", "gone.svg", "own.svg"])
    def test_other_images_stay_as_they_are(self, folder, source):
        (folder / "own.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
        page = f'<p><img src="{source}" alt="x"> and <a href="y">more</a></p>'
        assert adapt(page, folder) == page
        assert (folder / "own.svg").exists()
