// A match as the page shows it, from its data: the moves and what they change on the board.

import { winningSquares } from "./winning.js";

// What is on a square, as in the data of a match: a stone (1, -1 or 0) and the number of a mark.
/** @type {(content: number) => number} */
const markOf = (content) => Math.round(content / 3);
/** @type {(content: number) => number} */
const stoneOf = (content) => content - 3 * markOf(content);

/** @type {<Data extends MatchData>(game: GameView, data: Data) => Viewed<Data>} */
export function viewOf(game, data) {
  const boards = boardsOf(data);
  const board = boards?.[data.shown] ?? null;
  const squares = board?.map(stoneOf) ?? null;
  const texts = ["", ...game.square_marks];
  return {
    ...data,
    squares,
    marks: board !== null && texts.length > 1 ? board.map((content) => texts[markOf(content)]) : null,
    captured: game.captures_stones && boards !== null ? capturedStones(boards.slice(0, data.shown + 1)) : null,
    winning_squares: data.to_move === null && squares !== null ? winningSquares(game, squares) : [],
    plies: data.plies.map((ply, number) => ({ ...ply, ...(boards === null ? NOTHING : movedStones(ply, boards[number], boards[number + 1])) })),
  };
}

const NOTHING = { square: null, origin: null, turned: [] };

// What is on each square before each ply, and at last; null without a board.
/** @type {(data: MatchData) => number[][] | null} */
function boardsOf({ start, plies }) {
  if (start === null) {
    return null;
  }
  const boards = [start];
  for (const { changes } of plies) {
    const board = boards[boards.length - 1].slice();
    changes.forEach(([square, content]) => (board[square] = content));
    boards.push(board);
  }
  return boards;
}

// Of the squares that select an action, the one on which it puts a stone or a mark, and the one from which a stone moves; the
// squares whose stones it turns.
/** @type {(ply: PlyData, before: number[], after: number[]) => {square: number | null, origin: number | null, turned: number[]}} */
function movedStones({ pointed, changes }, before, after) {
  const changed = pointed.filter((square) => before[square] !== after[square]);
  return {
    square: changed.find((square) => after[square] !== 0) ?? null,
    origin: changed.find((square) => after[square] === 0) ?? null,
    turned: changes.map(([square]) => square).filter((square) => before[square] * after[square] === -1),
  };
}

// The number of stones that each seat has captured: those of the other one that have left the board.
/** @type {(boards: number[][]) => number[]} */
function capturedStones(boards) {
  const counts = boards.map((board) => [-1, 1].map((stone) => board.filter((content) => stoneOf(content) === stone).length));
  return [0, 1].map((seat) => counts.slice(1).reduce((sum, now, ply) => sum + Math.max(0, counts[ply][seat] - now[seat]), 0));
}
