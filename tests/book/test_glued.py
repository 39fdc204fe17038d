"""A figure that a chapter glued, as files for another page."""

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book.glued import write_glued_figure


def executed(tmp_path, **data):
    output = new_output("display_data", data=data, metadata={"scrapbook": {"name": "picture"}})
    path = tmp_path / "chapter.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("", outputs=[output])]), path)
    return path


def test_a_glued_figure_is_written_in_both_forms(tmp_path):
    data = {"application/papermill.record/image/svg+xml": "<svg/>", "application/papermill.record/image/png": "aGk="}
    svg, png = write_glued_figure(executed(tmp_path, **data), "picture", tmp_path)
    assert svg.read_text() == "<svg/>"
    assert png.read_bytes() == b"hi"
    del data["application/papermill.record/image/svg+xml"]  # as in a stored notebook
    assert write_glued_figure(executed(tmp_path, **data), "picture", tmp_path) == [png]


def test_what_is_not_glued_is_not_written(tmp_path):
    assert write_glued_figure(executed(tmp_path), "another", tmp_path) == []
