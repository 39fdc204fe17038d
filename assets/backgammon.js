/* Steps through a game of backgammon: buttons, arrow keys, Home and End. Positions stand in the page, as numbers of men. */
(() => {
  const root = document.getElementById("backgammon");
  const game = JSON.parse(document.getElementById("backgammon-data").textContent);
  const [board, said] = ["board", "said"].map((name) => document.getElementById(`backgammon-${name}`));
  const SPACE = "http://www.w3.org/2000/svg", SIZE = 20, HIGH = 240, NAMES = ["filled", "open"];
  let at = 0;

  const draw = (name, attributes, text = "") => {
    const shape = document.createElementNS(SPACE, name);
    Object.entries(attributes).forEach(([key, value]) => shape.setAttribute(key, value));
    shape.textContent = text;
    board.append(shape);
  };

  // Where a place of a side is drawn: the middle of its column, and whether at the bottom; places as the filled side counts
  const spot = (side, place) => {
    if (place === 0) return [13.5, side === 0];
    if (place === 25) return [6.5, side === 1];
    const point = side === 0 ? place : 25 - place;
    const column = point < 13 ? 12 - point : point - 13;
    return [column + (column > 5 ? 1.5 : 0.5), point < 13];
  };

  const drawMen = (side, place, number, fresh) => {
    const [x, bottom] = spot(side, place);
    const gap = Math.min(SIZE, (5 * SIZE) / number);
    for (let i = 0; i < number; i += 1) {
      const y = SIZE / 2 + gap * i;
      const kind = `backgammon-${NAMES[side]}${i >= number - fresh ? " backgammon-moved" : ""}`;
      draw("circle", { cx: x * SIZE, cy: bottom ? HIGH - y : y, r: 0.44 * SIZE, class: kind });
    }
  };

  const drawPoints = () => {
    for (let point = 1; point < 25; point += 1) {
      const [x, bottom] = spot(0, point);
      const [edge, tip] = bottom ? [HIGH, HIGH - 95] : [0, 95];
      const corners = `${(x - 0.5) * SIZE},${edge} ${(x + 0.5) * SIZE},${edge} ${x * SIZE},${tip}`;
      draw("polygon", { points: corners, class: `backgammon-point-${point % 2}` });
      draw("text", { x: x * SIZE, y: bottom ? HIGH + 13 : -5, class: "backgammon-label" }, point);
    }
    draw("rect", { x: 6 * SIZE, y: 0, width: SIZE, height: HIGH, class: "backgammon-bar" });
  };

  const show = (step) => {
    at = Math.max(0, Math.min(game.length - 1, step));
    const { men, side, words } = game[at];
    board.replaceChildren();
    drawPoints();
    men.forEach((places, who) => places.forEach((number, place) => {
      const before = at > 0 ? game[at - 1].men[who][place] : number;
      drawMen(who, place, number, who === side ? Math.max(0, number - before) : 0);
    }));
    said.textContent = `${at} of ${game.length - 1}. ${words}`;
    root.querySelectorAll("button").forEach((button) => {
      button.disabled = Number(button.dataset.way) < 0 ? at === 0 : at === game.length - 1;
    });
  };

  const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  root.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(at + KEYS[event.key]);
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) show(at + Number(button.dataset.way));
  });
  root.hidden = false;
  show(0);
})();
