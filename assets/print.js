// What is folded is unfolded; tables wider than the paper get smaller type, until they fit.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const table of document.querySelectorAll("main table")) {
    const room = table.parentElement.clientWidth;
    let points = Number.parseFloat(getComputedStyle(table).fontSize) * 0.75;
    while (table.offsetWidth > room && points > 4.5) {
      points -= 0.25;
      table.style.setProperty("font-size", `${points}pt`, "important");
    }
  }
});
