// The data of a match, as of the server (selfplay/playing/match_description.py).

import { bestOf } from "./game.js";

/** @typedef {import("./match.js").Match} Match */

export const PERFECT_PLAY = "Perfect play";
// The most stones and marks that an action may place, to be taken by a click on any of their squares.
const MOST_PLACED = 2;

// number: of plies before the position that is shown.
/** @type {(match: Match, number: number) => ServedMatch} */
export function dataOf(match, number) {
  const { description, game, seats, plies } = match;
  const state = match.states[number];
  const isNow = number === plies.length;
  const isChosenHere = isNow ? match.awaitsPerson : !state.isOver;
  const estimate = isChosenHere && match.isValued ? match.estimate(number) : null;
  const values = estimate?.values ?? null;
  return {
    ...description.match,
    opponent: match.opponent.offer,
    judge: match.judge.offer,
    advisers: [0, 1].map((seat) => match.adviserOf(seat).offer),
    seats: seats.map((seat) => seat?.offer ?? null),
    people: match.people,
    start: game.contents(match.states[0]),
    numbers: game.numbers(state),
    shown: number,
    points: pointsOf(match, state),
    lead: game.lead(state, description.margin_unit),
    ko: koOf(match, state),
    owners: state.isOver && !state.isEnded ? game.owners(state) : null,
    to_move: state.isOver ? null : state.player,
    awaits_person: match.awaitsPerson,
    values_in_points: values !== null && description.points_per_value !== null,
    legal: isChosenHere ? legalActions(match, state, estimate) : [],
    plies: plies.map((_, one) => playedPly(match, one)),
    is_over: state.isOver && !match.isBeingCounted,
    is_practice: match.isPractice,
    stood_in: [],
    result: match.state.isOver && !match.isBeingCounted ? resultOf(match, match.state) : null,
    count: match.isBeingCounted && isNow ? countOf(match) : null,
    moves: match.written(),
  };
}

/** @type {(match: Match, state: GameState, estimate: Estimate | null) => ActionData[]} */
function legalActions(match, state, estimate) {
  const before = match.game.contents(state);
  const names = namesOf(match, state);
  return match.game.legal(state).map((action) => {
    const after = match.game.contents(match.game.step(state, action));
    const pointed = pointedSquares(match, state.player, before, after, action);
    return {
      ...match.description.action,
      ...valuedAction(match, state.player, action, names, estimate),
      ...placedOf(match, state.player, pointed, before, after),
      pointed,
      result: null,
      ...endByPass(match, state, action),
    };
  });
}

// The empty square that may not be taken because a position would repeat.
/** @type {(match: Match, state: GameState) => number | null} */
function koOf({ description: { ko_field: field } }, { position }) {
  const found = field === null ? 0 : Number(position[field]);
  return found === 0 ? null : found - 1;
}

// For a pass by which a match in which squares count can end as the board stands: how it ends.
/** @type {(match: Match, state: GameState, action: number) => Pick<ActionData, "end" | "ends_at_once">} */
function endByPass(match, state, action) {
  const { game, description } = match;
  if (game.owners(state) === null || description.pointed[action].length > 0) {
    return { end: null, ends_at_once: false };
  }
  const after = game.step(state, action);
  const end = after.isOver ? after : game.step(after, action);
  return { end: end.isOver ? resultOf(match, end) : null, ends_at_once: after.isOver };
}

// The values of the judge before a ply, as JudgedView in selfplay/web/match_schemas.py.
/** @type {(match: Match, number: number) => JudgedView} */
export function judgedView(match, number) {
  const judged = match.judgement(number);
  const actions = judged === null ? [] : match.game.legal(match.states[number]);
  const { player } = match.states[number];
  const names = namesOf(match, match.states[number], actions);
  const { isExact } = judged ?? { isExact: true };
  return {
    kind: judged === null ? null : match.description.points_per_value === null ? "results" : "points",
    is_exact: isExact,
    source: isExact ? PERFECT_PLAY : match.judge.offer.label,
    legal: actions.map((action) => valuedAction(match, player, action, names, judged)),
    is_complete: true,
  };
}

// An action of a seat as it is valued; names: see namesOf.
/** @type {(match: Match, seat: number, action: number, names: Map<number, string>, estimate: Estimate | null) => ValuedAction} */
function valuedAction(match, seat, action, names, estimate) {
  const value = estimate?.values[action] ?? NaN;
  const text = match.description.texts[seat][action];
  return { action, text, name: names.get(action) ?? text, value: Number.isNaN(value) ? null : value, words: wordsOf(match, estimate, action) };
}

// An exact value in words; null if it is estimated.
/** @type {(match: Match, estimate: Estimate | null, action: number) => string | null} */
function wordsOf({ description }, estimate, action) {
  if (!estimate?.proved[action]) {
    return null;
  }
  const value = estimate.values[action];
  const result = value > 0 ? "wins" : value < 0 ? "loses" : "draws";
  return description.points_per_value === null || result === "draws" ? result : `${result} by ${Math.abs(Math.round(value))}`;
}

// The squares that stones of a seat, or marks without a stone, leave by an action, and those on which they then are, as `changes`
// in selfplay/games/clicked_squares.py.
/** @type {(seat: number, before: number[], after: number[]) => {left: number[], placed: number[]}} */
function changesOf(seat, before, after) {
  const isHeld = (/** @type {number} */ content) => {
    const stone = content - 3 * Math.round(content / 3);
    return stone === 0 ? content !== 0 : stone === (seat === 0 ? 1 : -1);
  };
  const squares = [...before.keys()];
  const left = squares.filter((square) => isHeld(before[square]) && !isHeld(after[square]));
  const gained = squares.filter((square) => !isHeld(before[square]) && isHeld(after[square]));
  const onEmpty = gained.filter((square) => before[square] === 0);
  return { left, placed: onEmpty.length > 0 ? onEmpty : gained };
}

// The squares that select an action of a seat, found as in selfplay/games/clicked_squares.py if the game does not declare them.
/** @type {(match: Match, seat: number, before: number[], after: number[], action: number) => number[]} */
export function pointedSquares({ description }, seat, before, after, action) {
  const usual = description.pointed[action];
  if (description.is_known === null) {
    return usual;
  }
  const isNew = !description.is_known[action];
  const { left, placed } = changesOf(seat, before, after);
  if (left.length === 1 && (isNew || usual.includes(left[0]))) {
    return placed.length === 1 ? [...left, ...placed] : left;
  }
  const isFew = left.length === 0 && placed.length <= (description.view.moves_stones ? 1 : MOST_PLACED);
  return isFew && (isNew || (usual.length > 0 && placed.some((square) => !usual.includes(square)))) ? placed : usual;
}

// Of the squares that select an action, the one on which it puts a stone or a mark.
/** @type {(pointed: number[], before: number[], after: number[]) => number | null} */
export function placedSquare(pointed, before, after) {
  return pointed.find((square) => before[square] !== after[square] && after[square] !== 0) ?? null;
}

// What an action of a seat puts on the board, as `placed` in selfplay/games/board_squares.py.
/** @type {(match: Match, seat: number, pointed: number[], before: number[], after: number[]) => Pick<ActionData, "square" | "content">} */
export function placedOf({ description }, seat, pointed, before, after) {
  const square = placedSquare(pointed, before, after);
  const { left, placed } = changesOf(seat, before, after);
  const others = description.view.moves_stones ? pointed.filter((other) => other !== square) : [];
  const isAll = square !== null && placed.join() === String(square) && left.length === others.length && others.every((other) => left.includes(other) && after[other] === 0);
  return { square, content: isAll ? after[square] : null };
}

/** @type {(match: Match, number: number) => PlyData} */
function playedPly(match, number) {
  const { ply: template, points_per_value: points } = match.description;
  const ply = match.plies[number];
  const [before, after] = [number, number + 1].map((one) => match.game.contents(match.states[one]));
  const estimate = ply.is_forced ? null : match.known(number);
  const values = estimate?.values ?? null;
  const best = values === null ? null : bestOf(values);
  const names = namesOf(match, match.states[number], [...new Set([ply.action, best ?? ply.action])]);
  return {
    ...template,
    ...ply,
    ...valuedAction(match, ply.seat, ply.action, names, estimate),
    pointed: pointedSquares(match, ply.seat, before, after, ply.action),
    changes: [...after.entries()].filter(([square, content]) => before[square] !== content),
    in_points: values !== null && points !== null,
    best: best === null ? null : valuedAction(match, ply.seat, best, names, estimate),
  };
}

// What people read of actions that have no texts in a game, of the legal ones if no others are given, as action_names in
// selfplay/games/presentation.py; none in other games, or of an action of which the board does not show what it does.
/** @type {(match: Pick<Match, "description" | "game">, state: GameState, actions?: number[]) => Map<number, string>} */
export function namesOf({ description, game }, state, actions = game.legal(state)) {
  if (!description.names_squares || actions.length === 0) {
    return new Map();
  }
  const before = game.contents(state);
  const squares = actions.map((action) => squaresInWords(description, state.player, before, game.contents(game.step(state, action))));
  const isShared = (/** @type {string} */ name) => squares.indexOf(name) !== squares.lastIndexOf(name);
  return new Map(actions.flatMap((action, place) => {
    const name = squares[place];
    return name === "" ? [] : [[action, isShared(name) ? `${name} (${description.texts[state.player][action]})` : name]];
  }));
}

const MOST_NAMED = 4;

// The names of the squares of an action of a seat, as in selfplay/games/action_names.py.
/** @type {(description: Pick<Description, "view" | "has_stones">, seat: number, before: number[], after: number[]) => string} */
export function squaresInWords({ view, has_stones: hasStones }, seat, before, after) {
  const stones = (/** @type {number[]} */ board) => (hasStones ? board.map((content) => content - 3 * Math.round(content / 3)) : board);
  const { left, placed } = changesOf(seat, stones(before), stones(after));
  const changed = [...before.keys()].filter((square) => before[square] !== after[square]);
  const areMarks = !hasStones && left.length === 0;
  const marked = areMarks ? placed : hasStones ? changed.filter((square) => after[square] !== 0 && stones(after)[square] === 0) : [];
  const moved = areMarks ? [] : placed;
  const to = left.length + moved.length + marked.length === 0 ? changed : moved;
  if (left.length + to.length + marked.length > MOST_NAMED) {
    return "";
  }
  const names = (/** @type {number[]} */ squares) => squares.map((square) => view.square_names[square]).join(" and ");
  const markText = (/** @type {number} */ content) => view.square_marks.filter((_, number) => Math.floor(Math.round(content / 3) / 2 ** number) % 2 === 1).join(" and ");
  const parts = [[names(left), names(to)].filter(Boolean).join(" to "), ...marked.map((square) => `${markText(after[square])} ${view.square_names[square]}`)];
  return parts.filter(Boolean).join(", ");
}

// The count of a match in which both have passed, before people have agreed on it.
/** @type {(match: Match) => ServedMatch["count"]} */
const countOf = (match) => ({ dead: match.marked, result: resultOf(match, match.counted), owners: match.game.owners(match.counted) ?? [] });

// The points of both seats, with komi; null if only a lead is known, or none.
/** @type {(match: Match, state: GameState) => number[] | null} */
function pointsOf({ game, description: { match: { komi }, margin_unit: unit } }, state) {
  const owners = state.isOver && !state.isEnded ? game.owners(state) : null;
  const points = game.points(state, unit) ?? (owners && [1, -1].map((seat) => owners.filter((owner) => owner === seat).length));
  return points && [points[0], points[1] + (komi ?? 0)];
}

/** @type {(match: Match, end: GameState) => Result} */
const resultOf = (match, end) => ({
  winner: end.result === 0 ? null : Number(end.result < 0),
  points: end.isEnded ? null : pointsOf(match, end),
  lead: end.isEnded ? null : match.game.lead(end, match.description.margin_unit),
  komi: match.description.match.komi,
});
