"""How far apart colours are, as in the guidelines for contrast (WCAG)."""


def contrast(first, second) -> float:
    """Return the contrast of two colours that matplotlib knows, from 1 to 21."""
    from seaborn.utils import relative_luminance  # imported here, as it takes seconds

    darker, lighter = sorted((relative_luminance(first), relative_luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)
