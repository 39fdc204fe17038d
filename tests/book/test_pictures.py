"""Figures on a page: their two variants, what keeps its colours, and the box they are in."""

import io
import re
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from lib.book.pictures import LEAST_SCALE, adapt
from lib.book.svg import INK, PAGE, colour_variants, compact_path, dark
from lib.colour import contrast


def drawn(figure):
    text = io.StringIO()
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "tests"}):
        figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()


@pytest.fixture(scope="module")
def curve():
    """A line with markers and error bars, words, a legend, a grid and a raster."""
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.errorbar(range(200), np.sqrt(range(200)), yerr=1, marker="o", color="#0072B2", label="a line")
    axis.imshow(np.arange(9.0).reshape(3, 3), extent=(0, 9, 0, 9))
    axis.grid()
    axis.set(title="$x_0$ and words", xlabel="examples")
    axis.legend()
    return drawn(figure)


def style_sheet(svg):
    """The class names of a variant with their declarations."""
    return dict(re.findall(r"([.\w*]+)\{([^}]*)\}", re.search("<style>(.*?)</style>", svg)[1]))


def test_dark_colours_can_be_seen_and_keep_order_and_hue():
    assert (dark("#000000").lower(), dark("#ffffff").lower()) == (INK.lower(), PAGE.lower())
    greys = [contrast(dark(f"#{value:02x}{value:02x}{value:02x}"), PAGE) for value in range(0, 256, 15)]
    assert greys == sorted(greys, reverse=True)
    assert dark("#56b4e9") == "#56b4e9"  # can be seen as it is
    red, green, blue = (int(dark("#332288")[i : i + 2], 16) for i in (1, 3, 5))
    assert blue > red > green


class TestVariants:
    def test_they_are_whole_small_and_differ_in_nothing_but_colours(self, curve):
        variants = colour_variants(curve)
        light, night = (style_sheet(svg) for svg in variants.values())
        assert (light["svg"], night["svg"].lower()) == ("fill:#000000", f"fill:{INK}".lower())
        assert "fill:#ffffff" not in light.values()  # the background
        assert light.keys() == night.keys()
        without = [{re.sub("#[0-9a-f]{6}", "", rule) for rule in sheet.values()} for sheet in (light, night)]
        assert without[0] == without[1]
        assert len({re.sub("<style>.*?</style>", "", svg) for svg in variants.values()}) == 1
        raster = re.search(r'href="(data:image/png;base64,[^"]+)"', curve)[1]
        for small in variants.values():
            assert len(small) < 0.6 * len(curve)
            nodes = list(ElementTree.fromstring(small).iter())
            ids = [node.get("id") for node in nodes if node.get("id")]
            used = re.findall(r'href="#([^"]+)"', small) + re.findall(r"url\(#([^)]+)\)", small)
            assert sorted(ids) == sorted(set(used))
            assert {f".{node.get('class')}" for node in nodes if node.get("class")} <= light.keys()
            assert "".join(raster.split()) in "".join(small.split())

    def test_nothing_that_is_drawn_is_lost_or_scaled(self, curve):
        def counts(svg):
            nodes = [node.tag.rpartition("}")[2] for node in ElementTree.fromstring(svg).iter()]
            return nodes.count("use"), nodes.count("path")

        uses, paths = counts(curve)
        light = colour_variants(curve)["light"]
        assert counts(light) == (uses, paths - 2)  # the backgrounds of figure and axes
        kept = r"(?:scale|rotate)\([^)]*\)"
        assert sorted(re.findall(kept, light)) == sorted(re.findall(kept, curve)) != []

    def test_what_is_marked_keeps_its_colours(self):
        figure, axis = plt.subplots()
        axis.set_axis_off()
        for artist in (
            *axis.bar([0], [1], color="#112244"),
            axis.text(0, 0.5, "white", color="white"),
            axis.text(0, 0.7, "black"),
        ):
            artist.set_gid("fixed-colours")
        axis.text(1, 0.5, "not marked", color="black")
        light, night = ({*style_sheet(svg).values()} for svg in colour_variants(drawn(figure)).values())
        fixed = " ".join(light & night)
        assert "fill:#112244" in fixed
        assert "fill:#ffffff" in fixed
        assert "fill:#000000" in fixed
        assert f"fill:{dark('#000000')}" in night  # the word that is not marked

    @pytest.mark.parametrize("text", ["", "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "Matplotlib <svg"])
    def test_what_matplotlib_did_not_draw_has_none(self, text):
        assert colour_variants(text) == {}


def end_points(path):
    """Where each piece of a path ends, read as the standard for SVG says."""
    ends, here, start = [], np.zeros(2), np.zeros(2)
    for command, words in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(word) for word in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", words)]
        if command in "zZ":
            here = start
            continue
        here = (here if command.islower() else np.zeros(2)) + numbers[-2:]
        ends.append(here.round(9))
        start = here if command in "mM" else start
    return np.array(ends)


@pytest.mark.parametrize(
    "path",
    [
        "M 0 0 \nL 10 0 \nL 10 5 \nz\n",
        "M 1.004 2.006 L 1.014 -3 ",
        "M 0 0 L 1 1 z M 5 5 L 6 6 C 1 2 3 4 5 6 Q 1 2 3 4",
        "M " + " L ".join(f"{x:.6f} {y:.6f}" for x, y in np.random.default_rng(0).normal(size=(500, 2)).cumsum(axis=0)),
    ],
)
def test_pieces_of_a_path_end_where_they_did(path):
    np.testing.assert_allclose(end_points(compact_path(path)), end_points(path).round(2) + 0, atol=1e-9)


class TestAdapt:
    @pytest.fixture
    def folder(self, tmp_path, curve):
        (tmp_path / "chapters").mkdir()
        (tmp_path / "_images").mkdir()
        (tmp_path / "_images" / "für a.svg").write_text(curve, encoding="utf-8")
        return tmp_path / "chapters"

    SOURCE = "../_images/f%C3%BCr%20a.svg"
    PAGE = f'<figure><img alt="A &quot;curve&quot;" src="{SOURCE}" /><figcaption>x</figcaption></figure>'

    def test_the_page_has_both_variants_in_one_link(self, folder):
        page = adapt(self.PAGE, folder)
        assert page.startswith(f'<figure><span class="picture" style="--least: {576 * LEAST_SCALE:.0f}px">')
        assert page.endswith("</a></span><figcaption>x</figcaption></figure>")
        assert page.count("<a ") == page.count("</a>") == 1
        assert 'href="../_images/f%C3%BCr%20a-light.svg"' in page
        for theme in ("light", "dark"):
            (image,) = re.findall(rf"<img [^>]*only-{theme}[^>]*>", page)
            assert f'src="../_images/f%C3%BCr%20a-{theme}.svg"' in image
            assert 'alt="A &#34;curve&#34;" width="576" height="288" loading="lazy"' in image

    def test_the_original_goes_unless_it_is_used_and_other_pages_find_the_variants(self, folder):
        first = adapt(self.PAGE, folder)
        assert adapt(self.PAGE, folder) == adapt(first, folder) == first
        images = folder.parent / "_images"
        assert sorted(path.name for path in images.iterdir()) == ["für a-dark.svg", "für a-light.svg"]

    def test_the_original_stays_where_something_else_uses_it(self, folder):
        adapt(self.PAGE + f'<a href="{self.SOURCE}">as it was</a>', folder)
        assert (folder.parent / "_images" / "für a.svg").exists()

    def test_a_link_around_the_picture_is_kept_or_replaced_but_never_doubled(self, folder):
        kept = adapt(f'<a href="x.html"><img alt="" src="{self.SOURCE}"></a>', folder)
        replaced = adapt(f'<a class="image-reference" href="{self.SOURCE}"><img src="{self.SOURCE}"></a>', folder)
        for page, target in ((kept, 'href="x.html"'), (replaced, '-light.svg" aria-label="')):
            assert page.count("<a ") == page.count("</a>") == 1
            assert target in page

    @pytest.mark.parametrize("source", ["logo.png", "https://example.org/a.svg", "gone.svg", "own.svg"])
    def test_other_images_stay_as_they_are(self, folder, source):
        (folder / "own.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
        page = f'<p><img src="{source}" alt="x"> and <a href="y">more</a></p>'
        assert adapt(page, folder) == page
        assert (folder / "own.svg").exists()
