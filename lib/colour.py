"""How light colours are, and how far apart, as in the guidelines for contrast (WCAG)."""

from matplotlib.colors import to_rgb

SHARES = (0.2126, 0.7152, 0.0722)


def luminance(colour) -> float:
    """Return the relative luminance, from 0 to 1, of any colour that matplotlib knows."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return sum(share * part for share, part in zip(SHARES, linear, strict=True))


def contrast(first, second) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)
