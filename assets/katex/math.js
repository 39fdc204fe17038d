// Sphinx loads this on pages with formulas only; KaTeX, which lies beside it, draws them.
{
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = folder + "katex.min.css";
  document.head.append(style);

  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = folder + name;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });

  const delimiters = [
    { left: "\\(", right: "\\)", display: false },
    { left: "\\[", right: "\\]", display: true },
  ];
  load("katex.min.js")
    .then(() => load("auto-render.min.js"))
    .then(() => {
      for (const formula of document.querySelectorAll(".math")) renderMathInElement(formula, { delimiters });
    });
}
