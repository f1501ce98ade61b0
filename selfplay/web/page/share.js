// Copying, saving and loading a match, and a picture of the position that is shown.

import { at, clicked, element, svg } from "./drawing.js";
import { centreOf, hasBoard, hexagon, linesOf, pathOf, sizeOf, starPoints } from "./geometry.js";
import { signOf } from "./pieces.js";
import { ask } from "./review.js";
import { opened, position, state } from "./state.js";

/** @type {(text: string) => void} */
export const say = (text) => void (at("share-state").textContent = text);

// Shows the moves, unless the person is writing.
export function showMovesText() {
  if (document.activeElement !== at("moves")) {
    at("moves").value = state.match?.moves ?? "";
  }
}

/** @type {(text: string, what: string) => Promise<void>} */
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

/** @type {(name: string, text: string, type: string) => void} */
function saveFile(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function download() {
  const { file } = await ask({ show: ["file"] });
  saveFile(file.name, file.text, "text/plain");
}

/** @type {(action: () => Promise<void> | void) => () => unknown} */
const ifOpen = (action) => () => state.match !== null && action()?.catch((error) => say(error.message));
clicked("copy-moves", ifOpen(() => copy(opened().match.moves, "moves are")));
clicked("copy-link", ifOpen(() => copy(location.href, "link is")));
clicked("download", ifOpen(download));
clicked("save-picture", ifOpen(() => savePicture(opened().game, position())));
at("share").addEventListener("toggle", () => {
  say("");
  showMovesText();
});

// ---------------------------------------------------------------------- the picture

const SIDE = 64;
/** @type {Record<string, string>} */
const DISCS = { black: "#14181c", white: "#ffffff", red: "#d42a26", yellow: "#fbc615" };
const SIGNS = ["#1d5fa8", "#b4581a"];

/** @type {(game: GameView, seat: number, middle: Point) => any} */
function stoneOf(game, seat, [cx, cy]) {
  const colours = game.stone_colours;
  if (colours !== null) {
    return svg("circle", { cx, cy, r: 0.42, fill: DISCS[colours[seat]], stroke: "#0004", "stroke-width": 0.02 });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.7 };
  return svg("text", { x: cx, y: cy + 0.25, fill: SIGNS[seat], ...style }, signOf(game, seat));
}

// What a mark adds to a square: a line, or a letter on its stone.
/** @type {(game: BoardGame, square: number, mark: string, middle: Point) => any} */
function markOf(game, square, mark, [x, y]) {
  if (game.draws_lines) {
    const isAcross = (square % game.columns) % 2 === 1;
    const ends = /** @type {Point[]} */ (isAcross ? [[x - 1, y], [x + 1, y]] : [[x, y - 1], [x, y + 1]]);
    return svg("path", { d: pathOf(ends), stroke: "#000000", "stroke-width": 0.12, "stroke-linecap": "round" });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.45 };
  return svg("text", { x, y: y + 0.16, fill: "#888888", ...style }, mark[0].toUpperCase());
}

/** @type {(game: GameView, match: Pick<MatchView, "squares" | "marks">) => void} */
function savePicture(game, { squares, marks }) {
  if (!hasBoard(game) || squares === null) {
    return;
  }
  const { width, height } = sizeOf(game);
  const ground = game.is_on_crossings ? "#e6bd72" : game.stone_colours === null ? "#ffffff" : game.stone_colours.includes("red") ? "#2459b5" : "#2f7d5b";
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: width * SIDE, height: height * SIDE });
  const places = squares.map((_, square) => centreOf(game, Math.floor(square / game.columns), square % game.columns));
  places.forEach(([x, y], square) => {
    const style = { fill: game.unused_squares.includes(square) && !game.is_on_crossings ? "#efe6d2" : ground, stroke: game.is_on_crossings ? ground : "#0006", "stroke-width": 0.02 };
    const cell = game.is_rhombus ? { d: `${pathOf(hexagon([x, y]))}Z` } : { x: x - 0.5, y: y - 0.5, width: 1, height: 1 };
    drawing.append(svg(game.is_rhombus ? "path" : "rect", { ...cell, ...style }));
  });
  if (game.is_on_crossings) {
    drawing.append(svg("path", { d: linesOf(game), fill: "none", stroke: "#5d4114", "stroke-width": 0.03 }));
    drawing.append(...starPoints(game).map(([cx, cy]) => svg("circle", { cx, cy, r: 0.1, fill: "#5d4114" })));
  }
  drawing.append(...places.flatMap((place, square) => (squares[square] === 0 ? [] : [stoneOf(game, squares[square] === 1 ? 0 : 1, place)])));
  drawing.append(...places.flatMap((place, square) => (marks?.[square] ? [markOf(game, square, marks[square], place)] : [])));
  saveFile(`${game.name}.svg`, new XMLSerializer().serializeToString(drawing), "image/svg+xml");
}
