// What is drawn over the squares of a board: arrows, rings, and the edges and cells of a rhombus.

import { svg } from "./drawing.js";
import { centreOf, edgesOf, hexagon, linesOf, pathOf, sizeOf, starPoints } from "./geometry.js";

// In widths of a square: how far from the middle of a square an arrow begins, its head, and half of its shaft's width.
const [START, HEAD_LENGTH, HALF_HEAD, HALF_SHAFT] = [0.3, 0.36, 0.22, 0.07];
const RING = 0.41;

/** @type {(game: BoardShape, kind: string, ...children: Element[]) => any} */
const covering = (game, kind, ...children) => {
  const { width, height } = sizeOf(game);
  return svg("svg", { class: kind, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...children);
};

// What belongs below the stones: the lines of a board with crossings, or the coloured edges of a rhombus and its cells.
/** @type {(game: BoardShape) => any} */
export function ground(game) {
  if (game.is_on_crossings) {
    const stars = starPoints(game).map(([cx, cy]) => svg("circle", { cx, cy, r: 0.1 }));
    return covering(game, "ground", svg("path", { d: linesOf(game), class: "lines" }), ...stars);
  }
  const isUsed = (/** @type {number} */ cell) => !game.unused_squares.includes(cell);
  const sides = game.unused_squares.length > 0 ? [] : edgesOf(game);
  const edges = sides.flatMap((both, seat) => both.map((points) => svg("path", { d: pathOf(points), class: `side-of seat${seat}` })));
  const cells = [...Array(game.rows * game.columns).keys()].filter(isUsed).map((cell) => hexagon(centreOf(game, Math.floor(cell / game.columns), cell % game.columns)));
  return covering(game, "ground", ...edges, svg("path", { d: cells.map((corners) => `${pathOf(corners)}Z`).join(""), class: "lines" }));
}

/** @type {(from: Point, to: Point, kind: string) => any} */
function arrow([x0, y0], [x1, y1], kind) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [right, down] = [(x1 - x0) / length, (y1 - y0) / length];
  /** @type {(along: number, aside: number) => Point} */
  const at = (along, aside) => [x0 + along * right - aside * down, y0 + along * down + aside * right];
  const neck = length - HEAD_LENGTH;
  const outline = [at(0, HALF_SHAFT), at(neck, HALF_SHAFT), at(neck, HALF_HEAD), at(length, 0), at(neck, -HALF_HEAD), at(neck, -HALF_SHAFT), at(0, -HALF_SHAFT)];
  return svg("path", { class: `arrow ${kind}`, d: `${pathOf(outline)}Z` });
}

export class Marks {
  // placeOf(square): [row, column], as drawn. falls: whether stones fall from above the board.
  /**
   * @param {BoardShape} game
   * @param {(square: number) => Point} placeOf
   * @param {boolean} falls
   */
  constructor(game, placeOf, falls) {
    this.game = game;
    this.placeOf = placeOf;
    this.falls = falls;
    this.drawing = covering(game, "marks");
  }

  // Marks actions, each {kind, from, to}: an arrow between two squares; without `from`, a ring around a square, with an arrow
  // to it where stones fall. number: of those that follow, their place in the line.
  /** @type {(actions: (Mark & {kind: string})[]) => void} */
  show(actions) {
    this.drawing.replaceChildren(...actions.flatMap(({ kind, from, to, number }) => (from === null ? this.ring(kind, to, number) : [this.between(kind, from, to)])));
  }

  /** @type {(kind: string, from: number, to: number) => any} */
  between(kind, from, to) {
    const [[x0, y0], [x1, y1]] = [this.centre(from), this.centre(to)];
    const part = START / Math.hypot(x1 - x0, y1 - y0);
    return arrow([x0 + part * (x1 - x0), y0 + part * (y1 - y0)], [x1, y1], kind);
  }

  /** @type {(kind: string, square: number, number?: number) => any[]} */
  ring(kind, square, number) {
    const [x, y] = this.centre(square);
    const ring = svg("circle", { class: `ring ${kind}`, cx: x, cy: y, r: RING });
    if (number !== undefined) {
      return [ring, svg("text", { class: kind, x, y: y + 0.13, "text-anchor": "middle", "font-size": 0.38 }, String(number))];
    }
    return this.falls && y > 1 ? [ring, arrow([x, 0.1], [x, y - RING - 0.06], kind)] : [ring];
  }

  /** @type {(square: number) => Point} */
  centre(square) {
    const [row, column] = this.placeOf(square);
    return centreOf(this.game, row, column);
  }
}
