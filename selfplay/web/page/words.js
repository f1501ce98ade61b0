// Sentences about a match.

import { at } from "./drawing.js";

// What the person can do after an error.
export function whatToDo(match) {
  if (match === null) {
    return "No match is open. Choose another opponent, or press New match.";
  }
  return match.is_over ? match.result : match.awaits_person ? "Your turn." : "Press Undo or New match.";
}

// How an action was chosen, as the end of a sentence; empty if this is not known.
const how = ({ is_random, reason }) => (is_random ? " at random" : reason === null ? "" : `: ${reason}`);

export function whatHappened(match, before) {
  const words = match.plies.slice(Math.min(before, match.plies.length)).flatMap((ply) => {
    const isYours = ply.seat === match.person_seat;
    if (ply.is_forced) {
      return [isYours ? "You can only pass." : `${match.opponent.label} can only pass.`];
    }
    return isYours ? [] : [`${match.opponent.label} plays ${ply.text}${how(ply)}.`];
  });
  if (match.is_over) {
    words.push(match.result);
  } else {
    words.push(words.length > 0 ? "Your turn." : `Your turn: you are ${match.seat_names[match.person_seat]}.`);
  }
  return words.join(" ");
}

// What the values on the board mean; mode is the choice of the person.
export function valuesAbout(match, mode, hasValues, areExact) {
  const isTooLarge = document.querySelector("input[name=values][value=perfect]").disabled;
  const missing = isTooLarge ? " The game is too large to compute perfect play." : "";
  if (!hasValues) {
    return (mode !== "none" && match.awaits_person ? `${match.opponent.label} does not estimate values.` : "") + missing;
  }
  if (mode === "perfect") {
    return "The result of each move with perfect play: +1 win, 0 draw, −1 loss.";
  }
  if (areExact) {
    return `Exact: the number of discs by which each move wins or loses if both play perfectly.${missing}`;
  }
  return `The value of each move for you, as estimated by ${match.opponent.label}.${missing}`;
}

// Whose values the curve shows, and from which move on they are exact.
export function curveSource(match) {
  if (match.plies.every((ply) => ply.value === null)) {
    return "";
  }
  const exact = match.plies.findIndex((ply) => ply.value_is_points);
  return `— estimated by ${match.opponent.label}${exact < 0 ? "" : `; from move ${exact + 1} on exact, in discs`}`;
}

// ---------------------------------------------------------------------- messages

export function say(text) {
  at("status").textContent = text;
}

export function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}
