import pytest

from lib.colour import contrast


def test_contrast_goes_from_1_to_21_and_has_no_order():
    assert contrast("black", "white") == contrast("white", "black") == pytest.approx(21)
    assert contrast("#0072B2", "#0072B2") == 1
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)  # the lightest grey that WCAG AA allows
