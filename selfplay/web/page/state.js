// The state of the play view, and what follows from it. Views draw it; actions change it and call `state.render`.
//
// A match is the fields of a request that describe it: {game, opponent, person, partner, adviser, seed, moves, position,
// is_practice, stood_in, dead, ended}. Nothing else is needed to show it or to play on.

import * as address from "./address.js";
import { at, check, checked } from "./drawing.js";
import { bestActions } from "./values.js";

const UNKNOWN = { value: null, words: null, best: null, grade: null };

/** @type {State} */
export const state = {
  render: () => {},
  game: null,
  board: null,
  match: null,
  answer: null,
  record: null,
  ply: null,
  wanted: null,
  positions: new Map(),
  judged: new Map(),
  territories: new Map(),
  foreseen: null,
  unconfirmed: null,
  proposed: null,
  hint: null,
  hintLine: [],
  exercise: null,
  line: null,
  beside: null,
  face: "play",
  isBusy: false,
  isTakingOver: false,
  isRunning: false,
  isEdited: false,
  visit: 0,
  changes: 0,
};

// The state where a match is open.
/** @returns {State & {game: GameView, match: Match, answer: MatchView}} */
export const opened = () => /** @type {any} */ (state);

// Whether the page still shows this view.
/** @type {(asked: MatchView | null) => boolean} */
export const isShown = (asked) => asked === state.answer && !state.isBusy;

// The number of plies before the position that is shown.
export const cursor = () => state.ply ?? state.answer?.plies.length ?? 0;

// The view of the position that is shown.
/** @returns {MatchView} */
export const position = () => /** @type {any} */ (state.ply === null ? state.answer : state.positions.get(state.ply));

// What the board shows: that position, or one of the line after it.
/** @returns {MatchView} */
export const onBoard = () => state.line?.views[state.line.step - 1] ?? position();

// All positions of the match in which somebody chose, the last one first: it is solved soonest, which shortens the solving of
// those before it.
/** @type {(match: MatchView) => number[]} */
export const choices = ({ plies }) => [...plies.keys()].filter((ply) => !plies[ply].is_forced).reverse();

// The moves before a ply, as a request has them. Passes that are the only legal action follow from the rules.
/** @type {(match: MatchView, ply: number) => string} */
export const movesBefore = ({ plies }, ply) => plies.slice(0, ply).filter((one) => !one.is_forced).map(({ text }) => text).join(" ");

// ---------------------------------------------------------------------- the match and a variation

// The match or the variation, whichever is shown.
/** @returns {LineOfPlay} */
export function lineShown() {
  const { match, answer, record, positions, judged, territories } = opened();
  return { match, answer, record, positions, judged, territories };
}

// Whether the variation is shown.
export const isVariation = () => state.beside?.isMatch === true;

// The match, while a variation of it is shown, too.
/** @returns {LineOfPlay} */
export const matchItself = () => (state.beside?.isMatch ? state.beside : lineShown());

// The number of plies with which the match and the variation begin alike.
export function parting() {
  const [one, other] = [opened().answer.plies, state.beside?.answer.plies ?? []];
  const first = one.findIndex(({ action }, ply) => other[ply]?.action !== action);
  return first < 0 ? one.length : first;
}

// What is said of a position first, if it is one of the variation.
export const aboutVariation = () => (isVariation() && cursor() > parting() ? `Variation from move ${parting() + 1}. ` : "");

// Shows the variation in the place of the match, or the match in that of the variation.
export function exchange() {
  if (state.beside !== null) {
    const { isMatch, ...line } = state.beside;
    Object.assign(state, { beside: { ...lineShown(), isMatch: !isMatch }, ...line, ...NOTHING_SHOWN, changes: state.changes + 1 });
  }
}

// Whether a move can be tried in the position that is shown, an earlier one.
export const canVary = () => state.face === "analyse" && state.ply !== null && state.exercise === null && !state.isBusy && !state.isRunning && !state.isEdited;

// ---------------------------------------------------------------------- the match changes

// What is shown of a match by a step, a hint, or an action that is not finished.
const NOTHING_SHOWN = { ply: null, wanted: null, foreseen: null, unconfirmed: null, proposed: null, hint: null, exercise: null, line: null };

/** @type {Judged} */
const NOT_JUDGED = { kind: null, isExact: false, source: "", isComplete: false, known: new Map() };
const VALUES = ["value", "words", "in_points", "best", "grade", "is_random", "reason"];
/** @type {(one: any, other: any, names: string[]) => boolean} */
export const hasSame = (one, other, names) => names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));

// The number of plies with which this match and the one that is shown begin alike; null if they are different matches.
/** @type {(match: Match, answer: MatchView) => number | null} */
export function sharedPlies(match, answer) {
  if (state.match === null || !hasSame(state.match, { ...match, position: answer.position }, ["game", "seed", "position"])) {
    return null;
  }
  const { plies } = opened().answer;
  const first = plies.findIndex(({ action }, ply) => answer.plies[ply]?.action !== action);
  return first < 0 ? plies.length : first;
}

// Makes this the match. What is known about the plies that it shares with the one before is kept. beside: what is beside it;
// if it is not given, this stays as it is, unless another match begins.
/** @type {(match: Match, answer: MatchView, record?: RecordView | null, beside?: State["beside"]) => void} */
export function take(match, answer, record = null, beside = undefined) {
  const shared = sharedPlies(match, answer);
  const kept = shared === null || state.record === null ? null : { ...state.record, plies: Math.min(state.record.plies, shared) };
  if (shared !== null && hasSame(opened().match, match, ["opponent", "partner", "adviser", "person"])) {
    mergeValues(answer, opened().answer.plies.slice(0, shared));
  }
  // The next move of the position where they part was not compared with the best one.
  const judged = new Map([...state.judged].filter(([ply]) => shared !== null && ply < shared));
  Object.assign(state, {
    match: { ...match, moves: answer.moves, position: answer.position, stood_in: answer.stood_in },
    answer,
    record: record === null ? kept : asRead(match, answer, record),
    ...NOTHING_SHOWN,
    positions: new Map(),
    judged,
    territories: new Map([...state.territories].filter(([ply]) => shared !== null && ply <= shared)),
    beside: beside !== undefined ? beside : shared === null ? null : state.beside,
    changes: state.changes + 1,
  });
}

// The text is kept if all plies are those of it: it does not break off, and no opponent has replied.
/** @type {(match: Match, answer: MatchView, record: RecordView) => State["record"]} */
function asRead(match, answer, record) {
  const { length } = answer.plies;
  const isWhole = record.broken === null && address.areTwoPeople(match.person);
  return { ...record, text: isWhole ? match.moves : null, whole: length, plies: length };
}

// Adds the values of these plies to a view that does not have them.
/** @type {(answer: MatchView, plies: PlyDescription[]) => void} */
export function mergeValues(answer, plies) {
  plies.forEach((known, ply) => {
    if (answer.plies[ply].value === null) {
      Object.assign(answer.plies[ply], Object.fromEntries(Object.entries(known).filter(([name]) => VALUES.includes(name))));
    }
  });
}

export function clear() {
  Object.assign(state, { match: null, answer: null, record: null, ply: null, wanted: null, positions: new Map(), judged: new Map(), territories: new Map(), beside: null });
  state.changes += 1;
}

// ---------------------------------------------------------------------- results

// The seeds of the matches that have been counted: the end of a match can be reached again by the browser's back button.
/** @type {Set<number>} */
const counted = new Set();
let score = { players: "", results: [0, 0, 0] };

// Who plays, whoever moves first.
/** @type {(match: Match) => string} */
const playersOf = ({ game, opponent, partner, person }) => [game, opponent, partner, address.isOnePerson(person) ? "one" : person].join(" ");

// Results between the players of the match: wins of the person (or of who moves first), of the other, and draws.
export const results = () => (score.players === playersOf(opened().match) ? score.results : [0, 0, 0]);

// Counts the match, which is over; whether it had not been counted.
export function count() {
  const { match, answer } = opened();
  if (counted.has(match.seed)) {
    return false;
  }
  counted.add(match.seed);
  score = { players: playersOf(match), results: results() };
  score.results[answer.winner === null ? 2 : Number(answer.winner !== (answer.person_seat ?? 0))] += 1;
  return true;
}

// ---------------------------------------------------------------------- which values are shown

// Whether the best known values are wanted, rather than those of the players: in an exercise always, and after a match for
// the sentence about it.
export function wantsJudge() {
  const isSummed = state.face === "play" && state.answer?.is_over === true && state.answer.person_seat !== null;
  return state.exercise !== null || isSummed || (state.face === "analyse" && checked("values") === "perfect");
}

// Whether the players' own values are wanted.
export const wantsEstimates = () => state.face === "analyse" && checked("values") === "adviser";

// The match with the values of the judge in place of all others, which have another scale.
/** @type {(line?: Pick<LineOfPlay, "answer" | "judged">) => MatchView} */
export function judgedMatch({ answer, judged } = opened()) {
  return { ...answer, plies: answer.plies.map((ply, number) => ({ ...ply, ...judgedPly(ply, judged.get(number)) })), advisers: [answer.judge, answer.judge] };
}

// The match with the values that are shown; as it is if none are known.
/** @type {(line?: Pick<LineOfPlay, "answer" | "judged">) => MatchView} */
export function valued(line = opened()) {
  const judged = judgedMatch(line);
  return wantsJudge() && judged.plies.some(({ value }) => value !== null) ? judged : line.answer;
}

/** @type {(ply: PlyDescription, judged: Judged | undefined) => Partial<PlyDescription>} */
function judgedPly({ action, is_forced: isForced }, judged) {
  const { kind, isComplete, known } = judged ?? NOT_JUDGED;
  const found = known.get(action);
  if (isForced || !isComplete || found === undefined) {
    return UNKNOWN;
  }
  const { value, words, grade } = found;
  const best = known.get(bestActions(known)[0]) ?? found;
  return { value, words, grade, best, in_points: kind === "points" };
}

// ---------------------------------------------------------------------- the address

// The values that are shown unless others are chosen.
const USUAL_VALUES = "perfect";

// Chooses the values of an address; null: the usual ones.
/** @type {(values: string | null) => void} */
export const bringValues = (values) => check("values", values ?? USUAL_VALUES);

// How the match is shown, as in an address.
function shown() {
  const values = checked("values");
  const variation = isVariation() ? opened().match.moves : (state.beside?.match.moves ?? null);
  const analysed = { isAnalysed: true, values: values === USUAL_VALUES ? null : values, ply: state.ply, hasTerritory: at("territory").checked };
  return state.face === "play" ? {} : { ...analysed, variation, isInVariation: isVariation() };
}

// The address of the match as it is shown; null if none is open.
export const savedAddress = () => (state.match === null ? null : address.write(matchItself().match, shown()));

export function keepInAddress() {
  if (state.match !== null && !at("play").hidden) {
    history.replaceState(null, "", savedAddress());
  }
}

// Called when another match of the game takes the place of this one, which stays reachable by the browser's button for the
// previous page.
export function keepInHistory() {
  noteLeft();
  if (state.answer !== null && state.answer.plies.length > 0) {
    history.pushState(null, "", savedAddress());
  }
}

// ---------------------------------------------------------------------- the match that was left before its end

/** @type {{address: string, moves: string} | null} */
let left = null;

// Called when another match takes the place of this one.
export function noteLeft() {
  const { game } = opened();
  const { match, answer } = matchItself();
  if (state.answer !== null && !answer.is_over && answer.plies.some((ply) => ply.by_person)) {
    left = { address: address.write(match), moves: match.moves };
    const count = answer.plies.length;
    at("left-about").textContent = `You left a match of ${game.title} after ${count} ${count === 1 ? "move" : "moves"}.`;
    at("left").hidden = false;
  }
}

// Called when a match is shown: from the second move of the person on, the earlier match is no longer offered.
/** @type {(match: MatchView) => void} */
export function forgetLeft({ moves, plies }) {
  const isReturned = left !== null && moves === left.moves && moves !== "";
  if (isReturned || plies.filter((ply) => ply.by_person).length > 1) {
    at("left").hidden = true;
    left = null;
  }
}

export const returnToLeft = () => (location.hash = left?.address ?? "");
