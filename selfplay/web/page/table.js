// The current game, its board and the match, with its address; and the match that was left.

import * as address from "./address.js";
import { at, check, checked } from "./drawing.js";
import { showControls, showMatch } from "./match_view.js";
import { review } from "./review.js";

// visit counts the games opened; an answer that belongs to an earlier one is ignored. isRunning: players are watched.
// isEdited: a position is being set up on the board. lesson: see lesson.js; null outside of one. foreseen: see board.js; null
// unless the answer to an action is awaited.
export const table = { game: null, board: null, match: null, foreseen: null, hint: null, isBusy: false, isRunning: false, isEdited: false, lesson: null, visit: 0 };

// Whether the best known values are wanted, rather than those of the players: in a lesson always.
export const wantsJudge = () => table.lesson !== null || checked("values") === "perfect";

// The values that the person wants to see, by whether the match is over.
const USUAL_VALUES = { false: "adviser", true: "perfect" };
const wantedValues = { ...USUAL_VALUES };
let valuesInAddress = null;

// Called when the person chooses values, and when a match is brought back from an address (values: null if it has none).
export const keepValues = (isOver) => (wantedValues[isOver] = checked("values"));
export function bringValues(values) {
  Object.assign(wantedValues, USUAL_VALUES);
  valuesInAddress = values;
}

// Called when a match is shown.
export function checkValues({ is_over: isOver }) {
  wantedValues[isOver] = valuesInAddress ?? wantedValues[isOver];
  valuesInAddress = null;
  check("values", wantedValues[isOver]);
}

// Whether the page still shows this answer of the server.
export const isShown = (asked) => asked === table.match && !table.isBusy;

// At the begin of a request: the board stays as it is, because a click on it is kept until an opponent has taken over.
export function showBusy() {
  document.body.dataset.busy = String(table.isBusy);
  at("board").classList.toggle("waiting", table.isBusy);
  showControls(table, review);
}

export function show() {
  showBusy();
  showMatch(table, review);
}

// ---------------------------------------------------------------------- the address

const unusualValues = ({ is_over: isOver }) => (checked("values") === USUAL_VALUES[isOver] ? null : checked("values"));

// The address of the match as it is shown; null if none is open.
export function savedAddress() {
  const { game, match } = table;
  return match === null ? null : address.write(game.name, address.savedOf(match), { values: unusualValues(match), ply: review.ply });
}

export function keepInAddress() {
  if (table.match !== null && !at("play").hidden) {
    history.replaceState(null, "", savedAddress());
  }
}

// Called when another match of the game takes the place of this one, which stays reachable by the browser's button for the
// previous page.
export function keepInHistory() {
  noteLeft();
  if (table.match !== null && table.match.plies.length > 0) {
    history.pushState(null, "", savedAddress());
  }
}

// ---------------------------------------------------------------------- the match that was left before its end

let left = null;

// Called when another match takes the place of this one.
export function noteLeft() {
  const { game, match } = table;
  if (game !== null && match !== null && !match.is_over && match.plies.some((ply) => ply.by_person)) {
    left = { address: address.write(game.name, address.savedOf(match)), moves: match.moves };
    const count = match.plies.length;
    at("left-about").textContent = `You left a match of ${game.title} after ${count} ${count === 1 ? "move" : "moves"}.`;
    at("left").hidden = false;
  }
}

// Called when a match is shown: from the second move of the person on, the earlier match is no longer offered.
export function forgetLeft(match) {
  const isReturned = left !== null && match.moves === left.moves && match.moves !== "";
  if (isReturned || match.plies.filter((ply) => ply.by_person).length > 1) {
    at("left").hidden = true;
    left = null;
  }
}

export const returnToLeft = () => (location.hash = left.address);
