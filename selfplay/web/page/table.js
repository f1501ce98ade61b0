// What is on the table: the game, its board and the match, and what is known about the match.

import * as address from "./address.js";
import { at, checked } from "./drawing.js";
import { showControls } from "./listeners.js";
import { showMatch } from "./match_view.js";
import { PerfectValues } from "./perfect_values.js";
import { Review } from "./review.js";
import { showMovesText } from "./share.js";
import { fail } from "./words.js";

// visit counts the games opened; an answer that belongs to an earlier one is ignored. isRunning: players are watched.
// isEdited: a position is being set up on the board. lesson: see lesson.js; null outside of one.
export const table = { game: null, board: null, match: null, hint: null, isBusy: false, isRunning: false, isEdited: false, lesson: null, visit: 0 };

export const wantsPerfect = () => table.lesson?.isExact ?? checked("values") === "perfect";
export const perfect = new PerfectValues(wantsPerfect, () => show(), (error) => !table.isBusy && fail(error));
export const review = new Review(wantsPerfect, () => show());

// The exact values of the plies, by ply, while they are wanted.
export const exactValues = () => (wantsPerfect() ? review.judged : new Map());

// Whether the page still shows this answer of the server.
export const isShown = (asked) => asked === table.match && !table.isBusy;

// The address of the match as it is shown; null if none is open.
export function savedAddress() {
  const { game, match } = table;
  return match === null ? null : address.write(game.name, address.savedOf(match), { values: checked("values"), ply: review.ply });
}

export function keepInAddress() {
  if (table.match !== null && !at("play").hidden) {
    history.replaceState(null, "", savedAddress());
  }
}

// The present match stays reachable by the browser's button for the previous page.
export function keepInHistory() {
  if (table.match !== null && table.match.plies.length > 0) {
    history.pushState(null, "", savedAddress());
  }
}

// Called with the number of plies before the position to show; set by the module that steps through the moves.
export const choosing = { goTo: null };

export function show() {
  const { game, board, match, hint, isBusy, isRunning, lesson } = table;
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  const cursor = match === null ? 0 : review.cursor(match);
  showControls({ match, isBusy, isRunning, cursor, lesson });
  showMovesText(match);
  if (match !== null && !table.isEdited) {
    const judged = exactValues();
    const position = review.position(match);
    showMatch({ game, board, match, position, cursor, judged, perfect: perfect.known, hint, isBusy, lesson, choose: choosing.goTo });
    at("play").classList.toggle("reviewed", cursor < match.plies.length && lesson === null);
    at("play").classList.toggle("learning", lesson !== null);
  }
}
