// A match that was left before its end, and the way back to it.

import * as address from "./address.js";
import { at } from "./drawing.js";

let kept = null;

// Called when another match takes the place of this one.
export function note(game, match) {
  if (game !== null && match !== null && !match.is_over && match.plies.some((ply) => ply.by_person)) {
    kept = { address: address.write(game.name, address.savedOf(match)), moves: match.moves };
    const count = match.plies.length;
    at("left-about").textContent = `You left a match of ${game.title} after ${count} ${count === 1 ? "move" : "moves"}.`;
    at("left").hidden = false;
  }
}

// Called when a match is shown: from the second move of the person on, the earlier match is no longer offered.
export function forget(match) {
  const isReturned = kept !== null && match.moves === kept.moves && match.moves !== "";
  if (isReturned || match.plies.filter((ply) => ply.by_person).length > 1) {
    at("left").hidden = true;
    kept = null;
  }
}

export function returnTo() {
  location.hash = kept.address;
}
