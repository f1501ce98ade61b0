// A board with its stones as one drawing, which can be saved: its colours are in it, and style sheets can set others.

import { svg } from "./drawing.js";
import { centreOf, hexagon, linesOf, pathOf, sizeOf, starPoints } from "./geometry.js";
import { signOf, signsOfMark } from "./pieces.js";

// Pixels of a square.
const SIDE = 64;
/** @type {Record<string, string>} */
const DISCS = { black: "#14181c", white: "#ffffff", red: "#d42a26", yellow: "#fbc615" };
const SIGNS = ["#1d5fa8", "#b4581a"];

/** @type {(game: GameView, seat: number, middle: Point, mark: string) => any} */
function stoneOf(game, seat, [cx, cy], mark) {
  const colours = game.stone_colours;
  if (colours !== null) {
    return svg("circle", { cx, cy, r: 0.42, fill: DISCS[colours[seat]], stroke: "#0004", "stroke-width": 0.02 });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.7 };
  return svg("text", { class: `seat${seat}`, x: cx, y: cy + 0.25, fill: SIGNS[seat], ...style }, signOf(game, seat, mark));
}

// What a mark adds to a square: a line, or a letter on its disc or on an empty square.
/** @type {(game: BoardGame, square: number, mark: string, middle: Point) => any} */
function markOf(game, square, mark, [x, y]) {
  if (game.draws_lines) {
    const isAcross = (square % game.columns) % 2 === 1;
    const ends = /** @type {Point[]} */ (isAcross ? [[x - 1, y], [x + 1, y]] : [[x, y - 1], [x, y + 1]]);
    return svg("path", { class: "drawn", d: pathOf(ends), stroke: "#000000", "stroke-width": 0.12, "stroke-linecap": "round" });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.45 };
  return svg("text", { x, y: y + 0.16, fill: "#888888", ...style }, signsOfMark(game, mark));
}

// Of games whose stones have no colours.
const PLAIN = "#ffffff";
/** @type {(game: GameView) => string} */
const groundOf = ({ is_on_crossings: isOnCrossings, stone_colours: colours }) =>
  isOnCrossings ? "#e6bd72" : colours === null ? PLAIN : colours.includes("red") ? "#2459b5" : "#2f7d5b";

// squares, marks: as in a MatchView; null: an empty board.
/** @type {(game: BoardGame, position?: Pick<MatchView, "squares" | "marks">) => any} */
export function pictureOf(game, { squares, marks } = { squares: null, marks: null }) {
  const { width, height } = sizeOf(game);
  const ground = groundOf(game);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: width * SIDE, height: height * SIDE });
  const places = [...Array(game.rows * game.columns).keys()].map((square) => centreOf(game, Math.floor(square / game.columns), square % game.columns));
  places.forEach(([x, y], square) => {
    const isUnused = game.unused_squares.includes(square) && !game.is_on_crossings;
    const isPlain = ground === PLAIN;
    const stroke = game.is_on_crossings || game.draws_lines ? ground : "#0006";
    const style = { class: isPlain ? (game.draws_lines ? "plain dotted" : "plain") : null, fill: isUnused ? "#efe6d2" : ground, stroke, "stroke-width": 0.02 };
    const cell = game.is_rhombus ? { d: `${pathOf(hexagon([x, y]))}Z` } : { x: x - 0.5, y: y - 0.5, width: 1, height: 1 };
    if (isUnused && game.is_rhombus) {
      return;
    }
    drawing.append(svg(game.is_rhombus ? "path" : "rect", { ...cell, ...style }));
  });
  if (game.is_on_crossings) {
    drawing.append(svg("path", { d: linesOf(game), fill: "none", stroke: "#5d4114", "stroke-width": 0.03 }));
    drawing.append(...starPoints(game).map(([cx, cy]) => svg("circle", { cx, cy, r: 0.1, fill: "#5d4114" })));
  }
  if (game.draws_lines) {
    const dots = places.filter((_, square) => Math.floor(square / game.columns) % 2 === 0 && (square % game.columns) % 2 === 0);
    drawing.append(...dots.map(([cx, cy]) => svg("circle", { class: "corner", cx, cy, r: 0.15 })));
  }
  const stones = squares ?? [];
  drawing.append(...places.flatMap((place, square) => (stones[square] ? [stoneOf(game, stones[square] === 1 ? 0 : 1, place, marks?.[square] ?? "")] : [])));
  const hasMark = (/** @type {number} */ square) => marks?.[square] && (game.stone_colours !== null || !stones[square]);
  drawing.append(...places.flatMap((place, square) => (marks && hasMark(square) ? [markOf(game, square, marks[square], place)] : [])));
  return drawing;
}
