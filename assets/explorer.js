// The explorer: a world's controls steer its charts, the charts' cells steer the controls, a table says it in words.
function explore(root) {
  "use strict";
  const world = root.id;
  const control = (name) => document.getElementById(`${world}-${name}`);
  const data = JSON.parse(control("data").textContent);
  const specs = window.explorerCharts(data);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const append = (parent, ...children) => (parent.append(...children), parent);
  const unscaled = (value) => (value === null ? null : value / data.scale);
  const number = (value, digits) => value.toFixed(digits).replace("-", "\u2212");
  // As many decimals as the first figure of the error needs; where all models gave the same there is no error.
  const decimals = (se) => (se ? Math.min(4, Math.max(2, Math.ceil(-Math.log10(se)))) : 2);
  const plusMinus = (value, se) =>
    value === null ? "\u2014" : number(value, decimals(se)) + (se ? ` \u00b1 ${number(se, decimals(se))}` : "");
  const place = (now) => data.place.replace(/\{(\w+)\}/g, (_, name) => now[name]);

  function menu(name, words) {
    const select = make("select", "", { id: `${world}-${name}` });
    for (const value of data.axes[name]) select.append(make("option", words(value), { value }));
    select.value = String(data.usual[name] ?? data.axes[name][0]);
    return append(make("label", data.titles[name]), select);
  }

  function slider() {
    const last = data.axes.size.length - 1;
    const label = make("label", "Sample size s: ", { class: "explorer-wide" });
    const range = { type: "range", id: `${world}-size`, min: 0, max: last, step: 1, value: last };
    return append(label, make("output", "", { id: `${world}-size-now` }), make("input", "", range));
  }

  function sign(look) {
    const drawn = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const style = `--explorer-light:${look.light};--explorer-dark:${look.dark}`;
    const box = drawn("svg", { viewBox: "-1 -1 2 2", "aria-hidden": "true", style });
    return append(box, drawn("path", { class: "explorer-sign", d: look.path }));
  }

  function boxes() {
    const set = append(make("fieldset", ""), make("legend", "Learners"));
    for (const name of data.axes.learner) {
      const box = make("input", "", { type: "checkbox", name: `${world}-learner`, value: name });
      box.checked = data.shown.includes(name);
      set.append(append(make("label", ""), box, sign(data.looks[name]), data.looks[name].label));
    }
    return set;
  }

  function build() {
    const part = (tag, name, text = "", more = {}) =>
      make(tag, text, { class: `explorer-${name}`, id: `${world}-${name}`, ...more });
    const form = part("form", "controls", "", { "aria-label": `Settings: ${data.title}` });
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of data.panel) form.append(menu(name, String));
    form.append(menu("t", (measure) => data.measures[measure]), slider(), boxes());
    const charts = part("div", "charts");
    for (const [name, words] of Object.entries({ curves: "", ...data.captions }))
      charts.append(append(make("figure", ""), make("figcaption", words), make("div", "", { id: `${world}-${name}` })));
    const rest = " Bands are one standard error; the upright line is the chosen sample size.";
    charts.querySelector("figcaption").append("Learning curves: ", make("span", "", { id: `${world}-measured` }), ".", rest);
    const table = append(part("table", "table"), make("caption", ""), make("thead", ""), make("tbody", ""));
    const results = { class: "explorer-scroll", tabindex: 0, role: "region", "aria-label": `Results: ${data.title}` };
    const csvButton = part("button", "csv", "Download the whole grid (CSV)", { type: "button" });
    const said = part("p", "said", "", { "aria-live": "polite" });
    root.replaceChildren(form, said, charts, append(make("div", "", results), table), csvButton);
  }

  function rows() {
    let points = [{}];
    for (const name of [...data.panel, "size", "t", "learner"])
      points = points.flatMap((point) => data.axes[name].map((value) => ({ ...point, [name]: value })));
    return points.map((point, i) => ({
      ...point, label: data.looks[point.learner].label, value: unscaled(data.value[i]), se: unscaled(data.se[i]),
      models: data.models[i], apart: data.apart[i].map(unscaled), width: data.widths[data.models[i]] ?? null,
    }));
  }

  const grid = rows();
  const views = {};

  function state() {
    const boxes = root.querySelectorAll("input[name$=-learner]:checked");
    return {
      ...Object.fromEntries(data.panel.map((name) => [name, Number(control(name).value)])),
      t: control("t").value, size: data.axes.size[Number(control("size").value)],
      learners: Array.from(boxes, (box) => box.value),
      dark: document.documentElement.dataset.theme === "dark",
    };
  }

  function selected(now) {
    return grid.filter((row) => data.panel.every((name) => row[name] === now[name]) && row.t === now.t
      && now.learners.includes(row.learner));
  }

  function sentence(now, found) {
    const here = found.filter((row) => row.size === now.size && row.value !== null);
    here.sort((first, second) => second.value - first.value);
    const where = `${place(now)}, ${now.size.toLocaleString("en")} examples, ${data.measures[now.t]}: `;
    if (!here.length) return `${where}no learner, or no ${data.unit} that counts.`;
    const [first, second] = here;
    const count = `${first.models} ${data.unit}${first.models === 1 ? "" : "s"}`;
    if (!second) return `${where}${first.label} is at ${plusMinus(first.value, first.se)} (${count}).`;
    const lead = first.value - second.value;
    if (!lead) return `${where}${first.label} and ${second.label} are level (${count}).`;
    const error = first.apart[data.axes.learner.indexOf(second.learner)];
    if (error === null || first.width === null)
      return `${where}${first.label} is before ${second.label} by ${plusMinus(lead, error)} (${count}): too few to say.`;
    const digits = decimals(error);
    const ends = [lead - first.width * error, lead + first.width * error].map((end) => number(end, digits));
    const words = `by ${number(lead, digits)} [${ends.join(", ")}] (${count})`;
    return lead > first.width * error
      ? `${where}${first.label} is ahead of ${second.label} ${words}.`
      : `${where}${first.label} is before ${second.label} ${words}: unclear, it may be chance.`;
  }

  function fillTable(now, found) {
    const table = control("table");
    const models = found.length ? found[0].models : 0;
    const words = `${place(now)}: ${data.measures[now.t]}, \u00b1 one standard error; `;
    table.caption.textContent = words + `${data.unit}s that count: ${models}.`;
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
    for (const name of data.panel) control(name).value = String(cell[name]);
    control("size").value = String(data.axes.size.indexOf(cell.size));
    show();
  }

  function csv() {
    const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    const columns = [...Object.keys(data.axes), "value", "se", "models"];
    const lines = grid.map((row) => columns.map((name) => quoted(row[name] ?? "")).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([[columns.join(","), ...lines, ""].join("\n")], { type: "text/csv" }));
    link.download = `${world}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function draw(name) {
    const spec = structuredClone(specs[name]);
    const now = state();
    spec.datasets = { grid };
    for (const parameter of spec.params) if (parameter.name in now) parameter.value = now[parameter.name];
    const options = {
      renderer: "svg", ast: true, mode: "vega-lite", logLevel: window.vega.Error, downloadFileName: `${world}-${name}`,
      actions: { export: true, source: false, editor: false, compiled: false },
    };
    const { view } = await window.vegaEmbed(`#${world}-${name}`, spec, options);
    views[name] = view;
    document.querySelector(`#${world}-${name} summary`)?.setAttribute("aria-label", "Save this chart");
    view.addEventListener("click", (event, item) => choose(item && item.datum));
  }

  async function start() {
    if (!window.vegaEmbed) return;
    build();
    control("controls").addEventListener("input", show);
    control("csv").addEventListener("click", csv);
    await Promise.all(Object.keys(specs).map(draw));
    show();
    // Vega measures its container when the window changes; here the page's layout may change alone.
    new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(control("charts"));
    new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  start();
}

document.querySelectorAll(".explorer").forEach(explore);
