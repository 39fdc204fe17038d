"""How far apart colours are, as in the guidelines for contrast (WCAG)."""


def contrast(first, second) -> float:
    """Return the contrast of two colours that matplotlib knows, from 1 to 21."""
    from seaborn.utils import relative_luminance  # which takes seconds to import

    dark, light = sorted((relative_luminance(first), relative_luminance(second)))
    return (light + 0.05) / (dark + 0.05)
