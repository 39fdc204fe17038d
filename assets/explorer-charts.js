// The explorer's charts as Vega-Lite specifications: learning curves, and maps of who is ahead.
// They read the data set `grid` and are steered by the parameters of the world (n, k, b), t, size, learners and dark.
window.explorerCharts = (world) => {
  "use strict";
  const { axes, looks, panel, titles, maps, limits } = world;
  const learners = axes.learner;
  const ink = { expr: "dark ? '#e8e8e8' : '#222222'" };
  const faint = { expr: "dark ? '#3c434d' : '#dddddd'" };
  const chosen = "datum.t === t && indexof(learners, datum.learner) >= 0";
  const here = (names) => names.map((name) => `datum.${name} === ${name}`).join(" && ") || "true";
  const each = (name) => learners.map((learner) => looks[learner][name]);
  const byLearner = (range) => ({ field: "learner", type: "nominal", legend: null, scale: { domain: learners, range } });
  const color = byLearner(learners.map((name) => ({ expr: `dark ? '${looks[name].dark}' : '${looks[name].light}'` })));
  const shape = byLearner(each("path"));
  const strokeDash = byLearner(each("dash"));
  const word = (field, title) => ({ field, title, type: "nominal" });
  const decimal = (field, title) => ({ field, title, type: "quantitative", format: ".3f" });

  function finished(chart) {
    const steered = Object.fromEntries(panel.map((name) => [name, null]));
    const values = { ...steered, t: "t", size: null, learners, dark: false, order: learners, limits };
    const axis = { labelColor: ink, titleColor: ink, gridColor: faint, domainColor: ink, tickColor: ink };
    const letters = { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    return {
      $schema: "https://vega.github.io/schema/vega-lite/v6.4.1.json", ...chart, data: { name: "grid" },
      width: "container", background: "transparent",
      params: Object.entries(values).map(([name, value]) => ({ name, value })),
      config: { axis: { ...axis, ...letters }, view: { continuousHeight: 300, continuousWidth: 300, stroke: null } },
    };
  }

  function curves() {
    const x = {
      field: "size", type: "quantitative", title: "sample size s", scale: { type: "log", nice: false },
      axis: { values: axes.size, labelExpr: "format(datum.value, ',')", labelOverlap: "greedy" },
    };
    const [low, high] = [{ expr: "limits[t][0]" }, { expr: "limits[t][1]" }];
    const scale = { domainMin: low, domainMax: high, nice: false, zero: false };
    const y = { field: "value", type: "quantitative", title: null, scale, axis: { format: ".2~f" } };
    const transform = [
      { filter: `${chosen} && ${here(panel)} && isValid(datum.value)` },
      { calculate: "datum.value - datum.se", as: "low" },
      { calculate: "datum.value + datum.se", as: "high" },
    ];
    const tooltip = [
      word("size", "sample size"), word("label", "learner"), decimal("value", "mean"), decimal("se", "standard error"),
    ];
    const bottom = { field: "low", type: "quantitative", title: null, scale };
    const layer = [
      {
        transform: [...transform, { filter: "isValid(datum.se)" }],
        mark: { type: "area", opacity: 0.16, clip: true },
        encoding: { x, y: bottom, y2: { field: "high" }, color },
      },
      {
        transform: [...transform, { filter: "datum.size === size" }, { aggregate: [], groupby: ["size"] }],
        mark: { type: "rule", color: ink, strokeDash: [3, 3] },
        encoding: { x },
      },
      { transform, mark: { type: "line", clip: true, strokeWidth: 2 }, encoding: { x, y, color, strokeDash } },
      {
        transform,
        mark: { type: "point", clip: true, filled: true, size: 70, opacity: 1 },
        encoding: { x, y, color, shape, tooltip },
      },
    ];
    return finished({ description: "Learning curves at the settings", height: 300, layer });
  }

  function map([across, up], height) {
    const fixed = here([...panel, "size"].filter((name) => name !== across && name !== up));
    const lead = (name, as) => ({ op: "lead", field: name, as });
    const transform = [
      { filter: `${chosen} && ${fixed} && isValid(datum.value)` },
      {
        window: [
          { op: "row_number", as: "rank" },
          lead("learner", "second"), lead("label", "second_label"), lead("value", "second_value"),
        ],
        groupby: [up, across],
        sort: [{ field: "value", order: "descending" }],
      },
      { filter: "datum.rank === 1" },
      { calculate: "isValid(datum.second) ? datum.value - datum.second_value : null", as: "lead" },
      { calculate: "isValid(datum.second) ? datum.apart[indexof(order, datum.second)] : null", as: "lead_se" },
      { calculate: "isValid(datum.lead_se) && isValid(datum.width) && datum.lead > datum.width * datum.lead_se", as: "clear" },
      { calculate: "isValid(datum.lead) ? '+' + format(datum.lead, datum.lead < 0.01 ? '.3f' : '.2f') : ''", as: "words" },
    ];
    const x = { field: across, type: "ordinal", title: titles[across], axis: { labelAngle: 0, grid: false } };
    const y = { field: up, type: "ordinal", title: titles[up], sort: "descending", axis: { grid: false } };
    const tooltip = [
      ...[across, up].map((name) => word(name, titles[name])), word("label", "learner"), word("second_label", "second"),
      decimal("lead", "lead"), decimal("lead_se", "standard error of the lead"), word("models", "how many"),
    ];
    const cursor = "pointer";
    const opacity = { condition: { test: "datum.clear", value: 0.32 }, value: 0.06 };
    const layer = [
      { transform, mark: { type: "rect", cursor }, encoding: { x, y, color, opacity, tooltip } },
      {
        transform,
        mark: { type: "point", filled: true, size: 80, opacity: 1, yOffset: -8, cursor },
        encoding: { x, y, color, shape, tooltip },
      },
      {
        transform,
        mark: { type: "text", color: ink, yOffset: 9, fontSize: 11, cursor },
        encoding: { x, y, text: word("words") },
      },
      {
        transform: [...transform, { filter: here([across, up]) }],
        mark: { type: "rect", filled: false, stroke: ink, strokeWidth: 2 },
        encoding: { x, y },
      },
    ];
    return finished({ description: `Who is ahead by ${titles[across]} and ${titles[up]}`, height, layer });
  }

  const drawn = { curves: curves() };
  for (const [name, [pair, height]] of Object.entries(maps)) drawn[name] = map(pair, height);
  return drawn;
};
