// Copying, saving and loading a match, and a picture of the position that is shown.

import * as api from "./api.js";
import { at, clicked, element, svg } from "./drawing.js";
import { signOf } from "./pieces.js";
import { review } from "./review.js";
import { table } from "./table.js";

const say = (text) => (at("share-state").textContent = text);

// Shows the moves, unless the person is writing.
export function showMovesText(match) {
  if (document.activeElement !== at("moves")) {
    at("moves").value = match?.moves ?? "";
  }
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`The ${what} copied.`);
  } catch {
    // Without encryption, browsers offer no clipboard to pages of other computers.
    say("The browser does not allow copying; select the text instead.");
    at("moves").value = text;
    at("moves").select();
  }
}

function saveFile(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function download({ id }) {
  const { name, text } = await api.file(id);
  saveFile(name, text, "text/plain");
}

const ifOpen = (action) => () => table.match !== null && action(table.match)?.catch((error) => say(error.message));
clicked("copy-moves", ifOpen(({ moves }) => copy(moves, "moves are")));
clicked("copy-link", ifOpen(() => copy(location.href, "link is")));
clicked("download", ifOpen(download));
clicked("save-picture", ifOpen((match) => savePicture(table.game, review.position(match).squares)));
at("share").addEventListener("toggle", () => {
  say("");
  showMovesText(table.match);
});

// ---------------------------------------------------------------------- the picture

const SIDE = 64;
const DISCS = { black: "#14181c", white: "#ffffff", red: "#d42a26", yellow: "#fbc615" };
const SIGNS = ["#1d5fa8", "#b4581a"];

function stoneOf(game, seat, x, y) {
  const colours = game.stone_colours;
  const [cx, cy] = [x + SIDE / 2, y + SIDE / 2];
  if (colours !== null) {
    return svg("circle", { cx, cy, r: 0.42 * SIDE, fill: DISCS[colours[seat]], stroke: "#0004" });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.7 * SIDE };
  return svg("text", { x: cx, y: cy + 0.25 * SIDE, fill: SIGNS[seat], ...style }, signOf(game, seat));
}

function savePicture(game, squares) {
  if (game.rows === null) {
    return;
  }
  const lean = game.is_rhombus ? SIDE / 2 : 0;
  const [width, height] = [game.columns * SIDE + lean * (game.rows - 1), game.rows * SIDE];
  const ground = game.stone_colours === null ? "#ffffff" : game.stone_colours.includes("red") ? "#2459b5" : "#2f7d5b";
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  squares.forEach((stone, square) => {
    const row = Math.floor(square / game.columns);
    const [x, y] = [SIDE * (square % game.columns) + lean * row, SIDE * row];
    drawing.append(svg("rect", { x, y, width: SIDE, height: SIDE, fill: ground, stroke: "#0006" }));
    if (stone !== 0) {
      drawing.append(stoneOf(game, stone === 1 ? 0 : 1, x, y));
    }
  });
  saveFile(`${game.name}.svg`, new XMLSerializer().serializeToString(drawing), "image/svg+xml");
}
