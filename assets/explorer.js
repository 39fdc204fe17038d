// The explorer: the page's controls steer the charts, the charts' cells steer the controls, a table says it in words.
(() => {
  "use strict";
  const root = document.getElementById("explorer");
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const specs = window.explorerCharts(data.axes, data.looks);
  const control = (name) => document.getElementById(`explorer-${name}`);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const unscaled = (value) => (value === null ? null : value / data.scale);
  const number = (value) => value.toFixed(2).replace("-", "\u2212");
  const plusMinus = (value, se) =>
    value === null ? "\u2014" : number(value) + (se === null ? "" : ` \u00b1 ${number(se)}`);

  function rows() {
    const { n, k, b, size, measure, learner } = data.axes;
    const all = [];
    for (const n_ of n) for (const k_ of k) for (const b_ of b) for (const size_ of size) for (const t of measure)
      for (const learner_ of learner) {
        const i = all.length;
        all.push({
          n: n_, k: k_, b: b_, size: size_, t, learner: learner_, label: data.looks[learner_].label,
          value: unscaled(data.value[i]), se: unscaled(data.se[i]), models: data.models[i],
          apart: data.apart[i].map(unscaled), width: data.widths[data.models[i]] ?? null,
        });
      }
    return all;
  }

  const grid = rows();
  const views = {};

  function state() {
    const boxes = root.querySelectorAll("input[name=explorer-learner]:checked");
    return {
      n: Number(control("n").value), k: Number(control("k").value), b: Number(control("b").value),
      t: control("t").value, size: data.axes.size[Number(control("size").value)],
      learners: Array.from(boxes, (box) => box.value),
      dark: document.documentElement.dataset.theme === "dark",
    };
  }

  function selected(now) {
    return grid.filter((row) => row.n === now.n && row.k === now.k && row.b === now.b && row.t === now.t
      && now.learners.includes(row.learner));
  }

  function sentence(now, found) {
    const here = found.filter((row) => row.size === now.size && row.value !== null);
    here.sort((first, second) => second.value - first.value);
    const place = `CIA(${now.n}, ${now.k}, ${now.b}), ${now.size.toLocaleString("en")} examples, ${data.measures[now.t]}: `;
    if (!here.length) return `${place}no learner, or no model that counts.`;
    const [first, second] = here;
    const models = `${first.models} ${first.models === 1 ? "model" : "models"}`;
    if (!second) return `${place}${first.label} is at ${plusMinus(first.value, first.se)} (${models}).`;
    const lead = first.value - second.value;
    const error = first.apart[data.axes.learner.indexOf(second.learner)];
    const sure = error !== null && first.width !== null && lead > first.width * error;
    const words = `${first.label} is ${sure ? "ahead of" : "before"} ${second.label} by ${plusMinus(lead, error)}`;
    return `${place}${words} (${models})${sure ? "" : ": unclear, it may be chance"}.`;
  }

  function fillTable(now, found) {
    const table = control("table");
    const models = found.length ? found[0].models : 0;
    const words = `CIA(${now.n}, ${now.k}, ${now.b}): ${data.measures[now.t]}, \u00b1 one standard error; `;
    table.caption.textContent = words + `models that count: ${models}.`;
    const head = make("tr", "");
    head.append(make("th", "s", { scope: "col" }));
    for (const name of now.learners) head.append(make("th", data.looks[name].label, { scope: "col" }));
    table.tHead.replaceChildren(head);
    table.tBodies[0].replaceChildren(...data.axes.size.map((size) => {
      const line = make("tr", "", size === now.size ? { "aria-current": "true" } : {});
      line.append(make("th", size.toLocaleString("en"), { scope: "row" }));
      for (const name of now.learners) {
        const row = found.find((each) => each.size === size && each.learner === name);
        line.append(make("td", plusMinus(row.value, row.se)));
      }
      return line;
    }));
  }

  function show() {
    const now = state();
    const found = selected(now);
    control("size-now").textContent = now.size.toLocaleString("en");
    control("size").setAttribute("aria-valuetext", `${now.size} examples`);
    control("said").textContent = sentence(now, found);
    control("measured").textContent = data.measures[now.t];
    fillTable(now, found);
    for (const view of Object.values(views)) {
      for (const [name, value] of Object.entries(now)) view.signal(name, value);
      view.runAsync();
    }
  }

  function choose(cell) {
    if (!cell || !("lead" in cell)) return;
    for (const name of ["n", "k", "b"]) control(name).value = String(cell[name]);
    show();
  }

  function csv() {
    const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    const columns = ["n", "k", "b", "size", "t", "learner", "value", "se", "models"];
    const lines = grid.map((row) => columns.map((name) => quoted(row[name] ?? "")).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([[columns.join(","), ...lines, ""].join("\n")], { type: "text/csv" }));
    link.download = "explorer.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function draw(name) {
    const spec = structuredClone(specs[name]);
    const now = state();
    spec.datasets = { grid };
    for (const parameter of spec.params) if (parameter.name in now) parameter.value = now[parameter.name];
    const options = {
      renderer: "svg", ast: true, mode: "vega-lite", logLevel: window.vega.Error, downloadFileName: `explorer-${name}`,
      actions: { export: true, source: false, editor: false, compiled: false },
    };
    const { view } = await window.vegaEmbed(`#explorer-${name}`, spec, options);
    views[name] = view;
    document.querySelector(`#explorer-${name} summary`)?.setAttribute("aria-label", "Save this chart");
    view.addEventListener("click", (event, item) => choose(item && item.datum));
  }

  async function start() {
    if (!window.vegaEmbed) return;
    root.hidden = false;
    control("without").hidden = true;
    control("controls").addEventListener("input", show);
    control("csv").addEventListener("click", csv);
    await Promise.all(Object.keys(specs).map(draw));
    show();
    // Vega measures its container when the window changes; here the page's layout may change alone.
    new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(control("charts"));
    new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  start();
})();
