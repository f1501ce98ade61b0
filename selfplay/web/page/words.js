// What is said of a match in words.

import { at } from "./drawing.js";

// What a person can do when something did not go as it should.
export function whatIsLeft(match) {
  if (match === null) {
    return "No match is open. Choose another opponent, or press New match.";
  }
  return match.is_over ? match.result : match.awaits_person ? "Your turn." : "Undo, or begin a new match.";
}

export function whatHappened(match, before) {
  const words = match.plies.slice(Math.min(before, match.plies.length)).flatMap((ply) => {
    const isYours = ply.seat === match.person_seat;
    if (ply.is_forced) {
      return [isYours ? "You can only pass." : `${match.opponent.label} can only pass.`];
    }
    return isYours ? [] : [`${match.opponent.label} plays ${ply.text}${ply.is_random ? " at random" : ""}.`];
  });
  if (match.is_over) {
    words.push(match.result);
  } else {
    words.push(words.length > 0 ? "Your turn." : `Your turn: you are ${match.seat_names[match.person_seat]}.`);
  }
  return words.join(" ");
}

// What the values on the board are; mode is whose the person has chosen.
export function valuesAbout(match, mode, hasValues, areExact) {
  const isTooLarge = document.querySelector("input[name=values][value=perfect]").disabled;
  const missing = isTooLarge ? " Perfect play is not known here: the game is too large." : "";
  if (!hasValues) {
    return (mode !== "none" && match.awaits_person ? `${match.opponent.label} values nothing.` : "") + missing;
  }
  if (mode === "perfect") {
    return "What perfect play gets with each move: +1 won, 0 drawn, −1 lost.";
  }
  if (areExact) {
    return `Exact: by how many discs each of your moves wins, or loses, if both then play perfectly.${missing}`;
  }
  return `What ${match.opponent.label} thinks each of your moves is worth to you.${missing}`;
}

// Whose values the curve shows, and from where on they are another number.
export function whoSaw(match) {
  if (match.plies.every((ply) => ply.value === null)) {
    return "";
  }
  const exact = match.plies.findIndex((ply) => ply.value_is_points);
  return `— as ${match.opponent.label} saw it${exact < 0 ? "" : `; from move ${exact + 1} on exact, in discs`}`;
}

// ---------------------------------------------------------------------- said on the page

export function say(text) {
  at("status").textContent = text;
}

export function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}
