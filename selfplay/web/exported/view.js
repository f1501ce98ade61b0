// The data of a match, as of the server (selfplay/playing/match_description.py).

import { bestOf } from "./game.js";

/** @typedef {import("./match.js").Match} Match */

// Values of networks are float32.
const ROUNDING = 1e-6;

// number: of plies before the position that is shown.
/** @type {(match: Match, number: number) => ServedMatch} */
export function viewOf(match, number) {
  const { description, game, seats, personSeat, plies } = match;
  const state = match.states[number];
  const isNow = number === plies.length;
  const isChosenHere = isNow ? match.awaitsPerson : !state.isOver;
  const estimate = isChosenHere && match.isValued ? match.estimate(number) : null;
  const values = estimate?.values ?? null;
  const { isOver, result } = match.state;
  return {
    ...description.match,
    opponent: match.opponent.offer,
    adviser: match.adviser?.offer ?? null,
    judge: match.judge.offer,
    advisers: [0, 1].map((seat) => match.adviserOf(seat).offer),
    seats: seats.map((seat) => seat?.offer ?? null),
    people: match.people,
    person_seat: personSeat,
    start: game.contents(match.states[0]),
    shown: number,
    points: pointsOf(match, state),
    lead: game.lead(state, description.margin_unit),
    ko: koOf(match, state),
    owners: state.isOver ? game.owners(state) : null,
    to_move: state.isOver ? null : state.player,
    awaits_person: match.awaitsPerson,
    values_in_points: values !== null && description.points_per_value !== null,
    legal: isChosenHere ? legalActions(match, state, estimate) : [],
    plies: plies.map((_, one) => playedPly(match, one)),
    can_undo: plies.some((one) => one.by_person && !one.is_forced),
    is_over: state.isOver,
    winner: isOver && result !== 0 ? Number(result < 0) : null,
    is_practice: match.isPractice,
    result: isOver ? resultText(match, match.state) : null,
    moves: match.written(),
  };
}

/** @type {(match: Match, state: GameState, estimate: Estimate | null) => ActionData[]} */
function legalActions(match, state, estimate) {
  const before = match.game.contents(state);
  return match.game.legal(state).map((action) => ({
    ...match.description.action,
    action,
    text: match.description.texts[state.player][action],
    square: placedSquare(match, before, match.game.contents(match.game.step(state, action)), action),
    pointed: match.description.pointed[action],
    value: estimate?.values[action] ?? null,
    words: wordsOf(match, estimate, action),
    result: null,
    grade: grade(match, estimate, action),
    warning: warningOf(match, state, action),
  }));
}

// The empty square that may not be taken because a position would repeat.
/** @type {(match: Match, state: GameState) => number | null} */
function koOf({ description: { ko_field: field } }, { position }) {
  const found = field === null ? 0 : Number(position[field]);
  return found === 0 ? null : found - 1;
}

// What a person is told before a pass by which a match in which squares count can end as the board stands.
/** @type {(match: Match, state: GameState, action: number) => string | null} */
function warningOf(match, state, action) {
  const { game, description } = match;
  if (game.owners(state) === null || description.pointed[action].length > 0) {
    return null;
  }
  const after = game.step(state, action);
  const end = after.isOver ? after : game.step(after, action);
  const ends = after.isOver ? "This ends the match" : "If the other player passes too, the match ends";
  return end.isOver ? `${ends} as the board stands: ${resultText(match, end)}` : null;
}

// The values of the judge before a ply, as JudgedView in selfplay/web/schemas.py.
/** @type {(match: Match, number: number) => JudgedView} */
export function judgedView(match, number) {
  const judged = match.judgement(number);
  const actions = judged === null ? [] : match.game.legal(match.states[number]);
  const { values, isExact } = judged ?? { values: [], isExact: true };
  return {
    kind: judged === null ? null : match.description.points_per_value === null ? "results" : "points",
    is_exact: isExact,
    source: isExact ? "Perfect play" : match.judge.offer.label,
    actions,
    texts: actions.map((action) => match.description.texts[match.states[number].player][action]),
    values: actions.map((action) => (Number.isNaN(values[action]) ? null : values[action])),
    words: actions.map((action) => wordsOf(match, judged, action)),
    grades: actions.map((action) => grade(match, judged, action)),
    is_complete: true,
  };
}

// An exact value in words; null if it is estimated.
/** @type {(match: Match, estimate: Estimate | null, action: number) => string | null} */
function wordsOf({ description }, estimate, action) {
  if (!estimate?.isExact) {
    return null;
  }
  const value = estimate.values[action];
  const result = value > 0 ? "wins" : value < 0 ? "loses" : "draws";
  return description.points_per_value === null || result === "draws" ? result : `${result} by ${Math.abs(Math.round(value))}`;
}

// How much worse than the best action an action is, in words.
/** @type {(match: Match, estimate: Estimate | null, action: number) => PlyData["grade"]} */
function grade(match, estimate, action) {
  if (estimate === null || estimate.compared?.includes(action) === false) {
    return null;
  }
  const [value, best] = [estimate.values[action], estimate.values[bestOf(estimate.values)]];
  if (estimate.isExact && Math.sign(value) !== Math.sign(best)) {
    return "blunder";
  }
  const loss = best - value;
  return match.description.grades.findLast(([threshold]) => loss >= threshold - ROUNDING)?.[1] ?? null;
}

// Of the squares that select an action, the one on which it puts a stone or a mark.
/** @type {(match: Match, before: number[], after: number[], action: number) => number | null} */
export function placedSquare(match, before, after, action) {
  return match.description.pointed[action].find((square) => before[square] !== after[square] && after[square] !== 0) ?? null;
}

/** @type {(match: Match, number: number) => PlyData} */
function playedPly(match, number) {
  const { texts, pointed, ply: template, points_per_value: points } = match.description;
  const ply = match.plies[number];
  const [before, after] = [number, number + 1].map((one) => match.game.contents(match.states[one]));
  const estimate = ply.is_forced ? null : match.known(number);
  const values = estimate?.values ?? null;
  const best = values === null ? null : bestOf(values);
  return {
    ...template,
    ...ply,
    pointed: pointed[ply.action],
    changes: [...after.entries()].filter(([square, content]) => before[square] !== content),
    value: values?.[ply.action] ?? null,
    words: wordsOf(match, estimate, ply.action),
    value_is_points: points !== null && estimate !== null && estimate.isExact,
    in_points: values !== null && points !== null,
    best: best === null ? null : texts[ply.seat][best],
    best_value: values === null || best === null ? null : values[best],
    best_words: best === null ? null : wordsOf(match, estimate, best),
    grade: grade(match, estimate, ply.action),
  };
}

/** @type {(text: string) => string} */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @type {(match: Match, end: GameState) => string} */
function resultText(match, end) {
  const { result } = end;
  const { personSeat, description } = match;
  const winner = result > 0 ? 0 : 1;
  const said = personSeat === null ? `${capital(description.view.seat_names[winner])} wins.` : winner === personSeat ? "You win." : "You lose.";
  return (result === 0 ? "A draw." : said) + pointsText(match, end);
}

// The points of both seats, with komi; null if only a lead is known, or none.
/** @type {(match: Match, state: GameState) => number[] | null} */
function pointsOf({ game, description: { komi, margin_unit: unit } }, state) {
  const owners = state.isOver ? game.owners(state) : null;
  const points = game.points(state, unit) ?? (owners && [1, -1].map((seat) => owners.filter((owner) => owner === seat).length));
  return points && [points[0], points[1] + (komi ?? 0)];
}

// The points of both seats at the end, or the lead if only this is known, in a game that counts points.
/** @type {(match: Match, state: GameState) => string} */
function pointsText(match, state) {
  const { game, description: { komi, margin_unit: unit, view, match: { point_name: name } } } = match;
  const points = pointsOf(match, state);
  const lead = game.lead(state, unit);
  if (points === null) {
    return lead ? ` The lead in ${name} is ${Math.abs(lead)}.` : "";
  }
  const [first, second] = view.seat_names;
  const included = komi ? `, with komi ${komi}` : "";
  return ` ${capital(name)}: ${first} ${points[0]}, ${second} ${points[1]}${included}.`;
}
