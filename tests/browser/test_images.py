"""What stands for an image where it is not seen; no browser needed."""

SHORTEST = 20


def has_no_text(image):
    """Whether an image has no alt, or one of spaces only; an empty one is for decoration."""
    if "alt" not in image:
        return True
    is_decoration = image.get("role") in ("presentation", "none")
    return image["alt"].isspace() and not is_decoration


def test_every_image_has_a_text_or_is_decoration(page_name, markups):
    assert [image["src"] for image in markups[page_name].images if has_no_text(image)] == []


def test_every_figure_of_a_chapter_is_described(chapter_name, markups):
    images = markups[chapter_name].images
    figures = [image for image in images if "_images/" in image.get("src", "")]
    short_texts = {}
    for figure in figures:
        if len(figure.get("alt", "").strip()) <= SHORTEST:
            short_texts[figure["src"]] = figure.get("alt")
    assert short_texts == {}
