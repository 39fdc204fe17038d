"""What stands for an image where it is not seen; no browser needed."""

SHORTEST = 20


def has_no_text(image):
    return (
        "alt" not in image
        or image["alt"].isspace()
        and image.get("role") not in ("presentation", "none")
    )


def test_every_image_has_a_text_or_is_decoration(page_name, markups):
    assert [image["src"] for image in markups[page_name].images if has_no_text(image)] == []


def test_every_figure_of_a_chapter_is_described(chapter_name, markups):
    figures = [
        image for image in markups[chapter_name].images if "_images/" in image.get("src", "")
    ]
    assert {
        image["src"]: image.get("alt")
        for image in figures
        if len(image.get("alt", "").strip()) <= SHORTEST
    } == {}
