"""One visit to a page gathers all that is asserted of it, as loading and axe take long."""

from contextlib import contextmanager
from dataclasses import dataclass, field

from accessibility import COLOURS, violations
from watch import Watch

LAPTOP = {"width": 1300, "height": 900}
WIDE = {"width": 1920, "height": 1000}
PHONES = ({"width": 390, "height": 844}, {"width": 320, "height": 640})

# Fonts are there and the browser has drawn them.
READY = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await document.fonts.ready;
  await frame();
  await frame();
}"""
# For formulas that never come some seconds are enough.
DRAW_FORMULAS = """async () => {
  const end = performance.now() + 5000;
  const isWaiting = () => document.querySelector(".math:not(:has(.katex, .katex-error))");
  while (isWaiting() && performance.now() < end)
    await new Promise(requestAnimationFrame);
}"""
FORMULAS_LEFT = """[...document.querySelectorAll('.math:not(:has(.katex)), .katex-error')]
  .map((formula) => formula.textContent)"""
SCROLL_TO_END = """async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await new Promise(requestAnimationFrame);
  }
  const visible = [...document.images].filter((image) => image.checkVisibility());
  await Promise.all(visible.map((image) => image.decode().catch(() => null)));
  scrollTo(0, 0);
}"""
IMAGES_MISSING = """[...document.images]
  .filter((image) => image.checkVisibility() && image.naturalWidth == 0)
  .map((image) => image.outerHTML)"""
# Of the folded cells one is enough for axe: they are alike, and coloured code takes it long.
# They fade in, whatever the reader prefers: colours count when they have done so.
UNFOLD = """async (everything) => {
  const folded = [...document.querySelectorAll("details:not([open])")];
  const cells = folded.filter((details) => details.matches(".hide"));
  for (const details of folded)
    details.open = everything || !cells.includes(details) || details == cells[0];
  const animations = document.getAnimations();
  await Promise.all(animations.map((animation) => animation.finished.catch(() => null)));
}"""
TOO_WIDE = """() => {
  const scrolls = (at) => at && at != document.documentElement &&
    (getComputedStyle(at).overflowX != "visible" || scrolls(at.parentElement));
  const out = (at) => at.getBoundingClientRect().right > innerWidth + 1 && at.checkVisibility();
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const widest = [...document.body.querySelectorAll("*")]
    .filter((at) => out(at) && !scrolls(at.parentElement));
  const page = `page: ${document.documentElement.scrollWidth} px`;
  return [page, ...widest.slice(0, 5).map((at) => at.outerHTML.slice(0, 200))];
}"""

# Figures, formulas and tables that scroll (but in folds), or figures whose words are less than 9
# pixels high; a glyph of matplotlib's is drawn 100 high. A page whose type is smaller than the
# reader's browser has it. On a phone a table may scroll in its own box, if a shadow at the edge, which
# scrolls out of sight with the end, says that there is more.
UNREADABLE = """async () => {
  const overflows = (at) =>
    at.scrollWidth > at.clientWidth + 1 && getComputedStyle(at).overflowX != "visible";
  const scrolls = (at) =>
    at && at != document.documentElement && (overflows(at) || scrolls(at.parentElement));
  const faults = [];
  const type = getComputedStyle(document.documentElement).fontSize;
  if (type != "16px") faults.push(`page: ${type}`);
  const hints = (at) => {
    const { backgroundAttachment, backgroundImage } = getComputedStyle(at);
    return backgroundImage.includes("gradient") && backgroundAttachment.includes("local");
  };
  const mayScroll = (at) => innerWidth < 600 && at.matches("div:not(.math)") && hints(at);
  const boxes = ":is(.pst-scrollable-table-container, div.math):not(details *)";
  for (const box of document.querySelectorAll(boxes))
    if (box.checkVisibility() && scrolls(mayScroll(box) ? box.parentElement : box))
      faults.push(`${box.innerText.slice(0, 60)} scrolls`);
  for (const image of document.querySelectorAll(".picture img")) {
    if (!image.checkVisibility()) continue;
    image.loading = "eager";
    await image.decode();
    if (scrolls(image)) faults.push(`${image.currentSrc} scrolls`);
    const text = await (await fetch(image.currentSrc)).text();
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    const scale = image.getBoundingClientRect().width / svg.documentElement.viewBox.baseVal.width;
    const words = [...svg.querySelectorAll("g[transform*='scale(']")];
    const heights = words.map((word) => {
      const factor = word.getAttribute("transform").match(/scale\\(([\\d.]+)/)[1];
      return 100 * scale * factor;
    });
    const least = Math.min(...heights);
    if (least < 8.95) faults.push(`${image.currentSrc}: ${least.toFixed(1)} px`);
  }
  return faults;
}"""


@dataclass
class Visit:
    """What a page is like."""

    name: str
    watch: Watch = field(repr=False)
    sizes: dict = field(default_factory=dict, repr=False)
    formulas_left: list = field(default_factory=list)
    images_missing: list = field(default_factory=list)
    violations: dict = field(default_factory=dict)
    too_wide: dict = field(default_factory=dict)
    unreadable: dict = field(default_factory=dict)


@contextmanager
def open_page(browser, site, address, name, **options):
    """Open a reader's first page, nothing stored or cached yet; gives the page and its watch."""
    context = browser.new_context(
        viewport=LAPTOP, color_scheme="light", reduced_motion="reduce", **options
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    watch = Watch(page, site, address)
    page.goto(address + name)
    page.evaluate(DRAW_FORMULAS)
    page.evaluate(READY)
    yield page, watch
    context.close()


def visit_page(browser, site, address, name):
    """Open a page, scroll through it, look at it in both themes and at the width of phones."""
    with open_page(browser, site, address, name) as (page, watch):
        visit = Visit(name, watch)
        page.evaluate(SCROLL_TO_END)
        visit.sizes = watch.sizes()
        visit.formulas_left = page.evaluate(FORMULAS_LEFT)
        visit.images_missing = page.evaluate(IMAGES_MISSING)
        page.evaluate(UNFOLD, False)
        visit.violations["light"] = violations(page)
        switch_system_theme(page, "dark")
        visit.violations["dark"] = violations(page, COLOURS)
        page.evaluate(UNFOLD, True)
        for size in (WIDE, LAPTOP, *PHONES):
            page.set_viewport_size(size)
            page.evaluate(READY)
            visit.too_wide[size["width"]] = page.evaluate(TOO_WIDE)
            visit.unreadable[size["width"]] = page.evaluate(UNREADABLE)
    return visit


def switch_system_theme(page, theme):
    """What the reader's system prefers; the page follows, as its button is on automatic."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(
        "theme => !document.querySelector('.theme-switch-button')"
        " || document.documentElement.dataset.theme == theme",
        arg=theme,
    )
    page.evaluate(READY)
