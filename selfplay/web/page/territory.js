// Who can be expected to own each square, while a match is analysed.

import { at } from "./drawing.js";
import { cursor, opened, position, state } from "./state.js";
import { stonesMissing } from "./words.js";

// Below this share of the random matches, nobody is expected to own a square.
const UNSURE = 0.25;

// Whether it is wanted in the position that is shown; where the match has been counted, the owners are known.
function isWanted() {
  const { game, face, exercise, isEdited } = state;
  const isOffered = game?.has_territory && at("territory").checked && face === "analyse" && exercise === null && !isEdited;
  return isOffered && state.answer !== null && position().owners === null && !position().count;
}

// From 1 for seat 0 to -1 for seat 1, by square; null if it is not shown, or not known yet.
export function territory() {
  const known = isWanted() ? state.territories.get(cursor()) : undefined;
  return known?.map((owner) => (Math.abs(owner) < UNSURE ? 0 : owner)) ?? null;
}

// Whether it has to be asked for.
export const isTerritoryMissing = () => isWanted() && !state.territories.has(cursor()) && stonesMissing(opened().game, position()) <= 0;

// Says what is shown, or from when on.
export function showAboutTerritory() {
  at("territory-about").hidden = !isWanted();
  if (isWanted()) {
    const missing = stonesMissing(opened().game, position());
    const about = "Who owns each crossing at the end of many random matches from here: the larger its square, the more of them.";
    at("territory-about").textContent = missing > 0 ? `Territory is shown after ${missing} more ${missing === 1 ? "stone" : "stones"}.` : about;
  }
}
