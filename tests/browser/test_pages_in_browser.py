"""Every page in a browser, as a reader meets it for the first time."""

import re

import pytest

LIMIT = 2_000_000  # the theme's style sheet, its icons and KaTeX as they come are 1.1 million of it
EXPLORER_LIMIT = 5_000_000


def test_opens_without_a_message(visit):
    assert visit.watch.messages == []
    assert visit.watch.failed == []


def test_asks_no_other_machine(visit):
    assert visit.watch.outside == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_is_accessible(visit, theme):
    assert visit.violations[theme] == []


@pytest.mark.parametrize("width", [390, 320])
def test_fits_a_phone(visit, width):
    assert visit.too_wide[width] == []


@pytest.mark.parametrize("width", [390, 1300, 1920])
def test_type_figures_formulas_and_tables_can_be_read(visit, width):
    assert visit.unreadable[width] == []


def test_cites_no_number_that_nobody_knows(page_name, site):
    page = (site / page_name).read_text(encoding="utf-8")
    assert re.findall(r'"pasted-text">([^<]*\b(?:nan|inf)\b[^<]*)<', page) == []


def test_images_are_shown(visit):
    assert visit.images_missing == []


def test_formulas_are_drawn(visit):
    assert visit.formulas_left == []


def test_is_light(visit):
    heaviest = sorted(visit.sizes.items(), key=lambda item: -item[1])[:10]
    table = "\n".join(f"{size:>10,} {name}" for name, size in heaviest)
    total = sum(visit.sizes.values())
    limit = EXPLORER_LIMIT if "explorer" in visit.name else LIMIT
    assert total <= limit, f"{visit.name} loads {total:,} bytes, allowed are {limit:,}:\n{table}"
