// A match as the page shows it, made of its data: moves, what they change on the board, values and the result.

import { gradeOfLoss, judgeScale, scaleOfPly } from "./values.js";
import { winningSquares } from "./winning.js";
import { capital } from "./words.js";

// What is on a square, as in the data of a match: a stone (1, -1 or 0) and marks.
/** @type {(content: number) => number} */
const marksOf = (content) => Math.round(content / 3);
/** @type {(content: number) => number} */
export const stoneOf = (content) => content - 3 * marksOf(content);
/** @type {(texts: string[], content: number) => string} */
export const markText = (texts, content) => texts.filter((_, number) => Math.floor(marksOf(content) / 2 ** number) % 2 === 1).join(", ");

/** @type {Record<string, number>} */
const SEATS = { first: 0, second: 1 };

/** @type {<Data extends MatchData & Partial<ServedMatch>>(game: GameView, data: Data) => Viewed<Data>} */
export function viewOf(game, data) {
  const boards = boardsOf(data);
  const board = boards?.[data.shown] ?? null;
  const squares = board?.map(stoneOf) ?? null;
  const person = SEATS[data.people ?? ""] ?? null;
  const textOf = (/** @type {Result} */ result) => resultText(game, person, result);
  return {
    ...data,
    seat_names: game.seat_names,
    point_name: game.point_name,
    squares,
    marks: board !== null && game.square_marks.length > 0 ? board.map((content) => markText(game.square_marks, content)) : null,
    captured: game.captures_stones && boards !== null ? capturedStones(boards.slice(0, data.shown + 1)) : null,
    winning_squares: data.to_move === null && squares !== null ? winningSquares(game, squares) : [],
    person_seat: person,
    can_undo: data.plies.some((one) => one.by_person && !one.is_forced),
    winner: data.result?.winner ?? null,
    result: data.result && textOf(data.result),
    counted: data.count ? textOf(data.count.result) : null,
    legal: data.legal.map((one) => ({ ...one, warning: one.end && `${passText(one)} the board is counted. With all stones alive: ${textOf(one.end)}` })),
    plies: data.plies.map((ply, number) => ({ ...ply, ...movedStones(ply, boards, number), grade: gradeOfPly(game, data, ply) })),
  };
}

/** @type {(action: ActionData) => string} */
const passText = ({ ends_at_once: isLast }) => (isLast ? "After this pass" : "If the other player passes too,");

// ---------------------------------------------------------------------- the board

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
/** @type {(ply: PlyData, boards: number[][] | null, number: number) => {square: number | null, origin: number | null, turned: number[]}} */
function movedStones({ pointed, changes }, boards, number) {
  if (boards === null) {
    return { square: null, origin: null, turned: [] };
  }
  const [before, after] = boards.slice(number, number + 2);
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

// ---------------------------------------------------------------------- the result

// The result as sentences, addressed to the only person.
/** @type {(game: GameView, person: number | null, result: Result) => string} */
function resultText({ seat_names: names, point_name: name }, person, { winner, points, lead, komi }) {
  const said = winner === null ? "A draw." : person === null ? `${capital(names[winner])} wins.` : winner === person ? "You win." : "You lose.";
  if (points === null) {
    return lead ? `${said} The lead in ${name} is ${Math.abs(lead)}.` : said;
  }
  const included = komi ? `, with komi ${komi}` : "";
  return `${said} ${capital(name)}: ${names[0]} ${points[0]}, ${names[1]} ${points[1]}${included}.`;
}

// ---------------------------------------------------------------------- values

/** @type {(game: GameView, data: MatchData & Partial<ServedMatch>, ply: PlyData) => Grade} */
function gradeOfPly(game, { advisers }, ply) {
  const { best } = ply;
  if (ply.value === null || best === null || advisers === undefined) {
    return null;
  }
  const kind = ply.in_points ? "points" : ply.words !== null && best.words !== null ? "scores" : "results";
  return gradeOfLoss(game.grade_losses[kind], ply, best, scaleOfPly({ advisers }, ply));
}

// The values of the judge, with their grades once all are known.
/** @type {(game: GameView, match: MatchView, data: JudgedView) => Judged} */
export function judgedOf(game, match, { kind, is_exact: isExact, is_complete: isComplete, source, legal }) {
  const valued = legal.filter(({ value }) => value !== null);
  const best = valued.reduce((one, other) => (Number(other.value) > Number(one.value) ? other : one), valued[0]);
  const known = valued.map((one) => {
    const grade = isComplete && kind !== null ? gradeOfLoss(game.grade_losses[kind], one, best, judgeScale(match, { kind, isExact })) : null;
    return /** @type {[number, Known]} */ ([one.action, { ...one, grade, share: null, result: null }]);
  });
  return { kind, isExact, source, isComplete, known: new Map(known) };
}
