// The squares that have won a match.

import { hasBoard } from "./geometry.js";

const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];
const BESIDE_HEXAGON = [[0, -1], [0, 1], [-1, 0], [-1, 1], [1, 0], [1, -1]];

// Of a finished match; empty if neither a line nor a chain wins.
/** @type {(game: GameView, squares: number[]) => number[]} */
export function winningSquares(game, squares) {
  if (!hasBoard(game)) {
    return [];
  }
  const { is_rhombus: isRhombus, line_length: length, line_is_exact: isExact } = game;
  return isRhombus ? (game.unused_squares.length > 0 ? [] : winningChain(game, squares)) : length === null ? [] : winningLines(length, isExact, game, squares);
}

/** @type {(length: number, isExact: boolean, view: BoardShape, squares: number[]) => number[]} */
function winningLines(length, isExact, { rows, columns }, squares) {
  const found = new Set();
  const stoneOn = (/** @type {number} */ row, /** @type {number} */ column) =>
    row >= 0 && row < rows && column >= 0 && column < columns ? squares[row * columns + column] : 0;
  for (let start = 0; start < squares.length; start += 1) {
    const [row, column] = [Math.floor(start / columns), start % columns];
    for (const [down, right] of DIRECTIONS) {
      const line = [...Array(length).keys()].map((step) => [row + down * step, column + right * step]);
      const numbers = line.filter(([r, c]) => r < rows && c >= 0 && c < columns).map(([r, c]) => r * columns + c);
      const ends = [-1, length].map((step) => stoneOn(row + down * step, column + right * step));
      const isLine = numbers.length === length && numbers.every((square) => squares[square] === squares[start]);
      if (squares[start] !== 0 && isLine && !(isExact && ends.includes(squares[start]))) {
        numbers.forEach((square) => found.add(square));
      }
    }
  }
  return [...found];
}

// A shortest chain from the first to the last row of seat 0, or from the first to the last column of seat 1.
/** @type {(view: BoardShape, squares: number[]) => number[]} */
function winningChain({ rows, columns }, squares) {
  for (const [stone, axis] of [[1, 0], [-1, 1]]) {
    const isOfPlayer = (/** @type {number} */ cell) => squares[cell] === stone;
    const placeOf = (/** @type {number} */ cell) => [Math.floor(cell / columns), cell % columns];
    const first = [...squares.keys()].filter((cell) => placeOf(cell)[axis] === 0 && isOfPlayer(cell));
    // From each cell that is reached to the one before it; a Map is walked through in the order in which it grows.
    /** @type {Map<number, number | null>} */
    const before = new Map(first.map((cell) => [cell, null]));
    for (const cell of before.keys()) {
      const [row, column] = placeOf(cell);
      if ([row, column][axis] === [rows, columns][axis] - 1) {
        return wayTo(cell, before);
      }
      BESIDE_HEXAGON.map(([down, right]) => [row + down, column + right])
        .filter(([r, c]) => r >= 0 && r < rows && c >= 0 && c < columns)
        .map(([r, c]) => r * columns + c)
        .filter((other) => isOfPlayer(other) && !before.has(other))
        .forEach((other) => before.set(other, cell));
    }
  }
  return [];
}

/** @type {(cell: number, before: Map<number, number | null>) => number[]} */
function wayTo(cell, before) {
  const way = [];
  for (let one = /** @type {number | null} */ (cell); one !== null; one = before.get(one) ?? null) {
    way.push(one);
  }
  return way;
}
