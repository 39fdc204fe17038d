/* Shows the claims that the filter of the scorecard asks for, in the order that it asks for, and keeps what is asked in the address: #/?verdict=fails */
(() => {
  const PICKED = ["paper", "chapter", "verdict", "place"];
  const FIELDS = [...PICKED, "order", "search"];
  const DIRECTIONS = { distance: -1, rerun: 1 };  // of the numbers by which claims are sorted
  const claims = [...document.querySelectorAll("li.claim")];
  const sections = [...document.querySelectorAll("section section")].filter((box) => box.querySelector("ul.claims"));
  const texts = new Map(claims.map((claim) => [claim, claim.textContent.toLowerCase()]));
  const control = (name) => document.getElementById(`scorecard-${name}`);
  const form = control("filter");
  const places = new Map(claims.map((claim) => [claim, claim.parentElement]));
  const sorted = document.createElement("ul");
  sorted.className = "claims";

  const isAsked = (claim) => {
    const words = control("search").value.toLowerCase().split(/\s+/);
    const picked = PICKED.every((field) => {
      const wanted = control(field).value;
      return !wanted || claim.dataset[field] === wanted;
    });
    return picked && words.every((word) => texts.get(claim).includes(word));
  };

  /* One list has the claims in another order than the book's; those without a number come last. */
  let shownOrder = "";
  const arrange = () => {
    const order = control("order").value;
    if (order === shownOrder) return;
    shownOrder = order;
    const rank = (claim) => (claim.dataset[order] ? DIRECTIONS[order] * Number(claim.dataset[order]) : Infinity);
    const inOrder = order ? [...claims].sort((one, other) => (rank(one) < rank(other) ? -1 : Number(rank(one) > rank(other)))) : claims;
    inOrder.forEach((claim) => (order ? sorted : places.get(claim)).append(claim));
  };

  const show = () => {
    arrange();
    claims.forEach((claim) => { claim.hidden = !isAsked(claim); });
    sections.forEach((box) => { box.hidden = !box.querySelector("li.claim:not([hidden])"); });
    const count = claims.filter((claim) => !claim.hidden).length;
    control("count").textContent = `Shown: ${count} of ${claims.length} claims`;
  };

  const writeAddress = () => {
    const asked = FIELDS.filter((field) => control(field).value).map((field) => [field, control(field).value]);
    const state = new URLSearchParams(asked).toString();
    history.replaceState(null, "", location.href.split("#")[0] + (state ? `#/?${state}` : ""));
  };

  const set = (values) => {
    FIELDS.forEach((field) => {
      control(field).value = values.get(field) ?? "";
      if (control(field).selectedIndex === -1) control(field).value = "";
    });
    show();
  };

  const readAddress = () => {
    if (!location.hash) return set(new Map());
    if (location.hash.startsWith("#/?")) {
      set(new URLSearchParams(location.hash.slice(3)));
      return form.scrollIntoView();
    }
    const target = document.getElementById(location.hash.slice(1));
    if (target?.closest("[hidden]")) {
      set(new Map());
      target.scrollIntoView();
    }
  };

  const pick = (values) => {
    set(new Map(Object.entries(values)));
    writeAddress();
    form.scrollIntoView();
    control("reset").focus({ preventScroll: true });
  };

  const makeButton = (cell) => {
    const button = document.createElement("button");
    const row = cell.parentElement.firstElementChild.firstChild.textContent;
    button.type = "button";
    button.textContent = cell.textContent;
    button.setAttribute("aria-label", `${cell.textContent} claims: ${row}, ${cell.dataset.verdict ?? "all verdicts"}`);
    button.addEventListener("click", () => pick(cell.dataset));
    cell.replaceChildren(button);
  };

  const cells = [...document.querySelectorAll(".scorecard-counts td")];
  cells.filter((cell) => cell.textContent !== "0").forEach(makeButton);
  form.addEventListener("input", () => { show(); writeAddress(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  control("reset").addEventListener("click", () => { set(new Map()); writeAddress(); });
  window.addEventListener("hashchange", readAddress);
  form.after(sorted);
  form.hidden = false;
  show();
  readAddress();
})();
