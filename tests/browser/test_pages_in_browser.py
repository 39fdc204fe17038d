"""Every page in a browser, as a reader meets it for the first time."""

import re

import pytest

LIMIT = 2_000_000  # the theme's style sheet, its icons and KaTeX as they come are 1.1 million of it
EXPLORER_LIMIT = 5_000_000


def test_opens_without_a_message(seen):
    assert seen.watch.messages == []
    assert seen.watch.failed == []


def test_asks_no_other_machine(seen):
    assert seen.watch.outside == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_is_accessible(seen, theme):
    assert seen.violations[theme] == []


@pytest.mark.parametrize("width", [390, 320])
def test_fits_a_phone(seen, width):
    assert seen.too_wide[width] == []


@pytest.mark.parametrize("width", [390, 1300, 1920])
def test_type_figures_and_tables_can_be_read_without_scrolling(seen, width):
    assert seen.unreadable[width] == []


def test_cites_no_number_that_nobody_knows(page_name, site):
    page = (site / page_name).read_text(encoding="utf-8")
    assert re.findall(r'"pasted-text">([^<]*\b(?:nan|inf)\b[^<]*)<', page) == []


def test_images_are_shown(seen):
    assert seen.images_missing == []


def test_formulas_are_drawn(seen):
    assert seen.formulas_left == []


def test_is_light(seen):
    heaviest = sorted(seen.sizes.items(), key=lambda item: -item[1])[:10]
    table = "\n".join(f"{size:>10,} {name}" for name, size in heaviest)
    total = sum(seen.sizes.values())
    limit = EXPLORER_LIMIT if "explorer" in seen.name else LIMIT
    assert total <= limit, f"{seen.name} loads {total:,} bytes, allowed are {limit:,}:\n{table}"
