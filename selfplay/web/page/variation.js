// A variation: moves for both sides that are tried while a match is analysed. The match stays beside it, and there is one
// variation at a time.

import { become } from "./actions.js";
import { foreseen } from "./board.js";
import { propose } from "./counting.js";
import { at } from "./drawing.js";
import { goTo, stopAsking } from "./review.js";
import { cursor, exchange, isVariation, lineShown, matchItself, movesBefore, opened, parting, position, state } from "./state.js";

// The match with other moves, for both sides.
/** @type {(moves: string) => Match} */
function varied(moves) {
  const { match } = matchItself();
  return { ...match, person: "both", moves, is_practice: match.position === null, stood_in: [], dead: null, ended: null };
}

// Plays an action in the position that is shown. Where it is the next one of the match or the variation, this is shown.
/** @type {(action: number) => unknown} */
export function vary(action) {
  const { game, answer, beside } = opened();
  const [shown, ply] = [position(), cursor()];
  if (answer.plies[ply]?.action === action) {
    return goTo(ply + 1);
  }
  if (beside !== null && ply <= parting() && beside.answer.plies[ply]?.action === action) {
    return showOther(ply + 1);
  }
  const text = shown.legal.find((one) => one.action === action)?.text;
  return become(varied(`${movesBefore(answer, ply)} ${text}`), { foreseen: foreseen(game, shown, action), beside: { ...matchItself(), isMatch: true } });
}

// Shows the other one of the match and the variation, after a number of plies.
/** @type {(ply: number) => Promise<void>} */
async function showOther(ply) {
  if (state.beside !== null && !state.isBusy && !state.isEdited) {
    stopAsking();
    exchange();
    await goTo(ply);
    propose();
  }
}

// Shows a position of the match, or of the variation.
/** @type {(isOfMatch: boolean) => GoTo} */
export const goToIn = (isOfMatch) => (to) => (isOfMatch === isVariation() ? showOther(Number(to)) : goTo(to));

export const toMatch = () => isVariation() && showOther(parting());

// Drops the variation.
export async function close() {
  if (state.beside !== null && !state.isBusy) {
    await toMatch();
    state.beside = null;
    await goTo(cursor());
    at("hint").focus();
  }
}

// Takes back the last move of the variation; without its first one, the match is shown.
/** @type {() => unknown} */
export function undo() {
  const { answer } = opened();
  const last = answer.plies.findLastIndex((one) => !one.is_forced);
  return last <= parting() ? close() : become(varied(movesBefore(answer, last)));
}

// Puts a variation of these moves beside the match that has been opened; isShown: in its place.
/** @type {(moves: string, isShown: boolean) => Promise<void>} */
export async function bring(moves, isShown) {
  const failure = await become(varied(moves), { beside: { ...lineShown(), isMatch: true } });
  if (failure === null && parting() === opened().answer.plies.length) {
    await close();
  } else if (failure === null && !isShown) {
    await showOther(Infinity);
  }
}
