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

// share: the percentage of the opponent's simulations, undefined if there is none.
export function aboutHint({ source, text, value, words }, share) {
  const who = source === "perfect" ? "Perfect play" : source;
  const more = share === undefined ? "" : `, ${share}% of its simulations`;
  return words === null ? `${who} would play ${text} here (value ${value.toFixed(2)}${more}).` : `${who}: ${text} ${words}.`;
}

const KINDS = {
  results: "The result of each move with perfect play: +1 win, 0 draw, −1 loss.",
  scores: "The exact score of each move with perfect play. A sooner win and a later loss score higher.",
  points: "Exact: the number of discs by which each move wins or loses if both play perfectly.",
};

// What the values on the board mean; mode is the choice of the person.
// shown: {values, shares, words, scale, perfect, arePoints}
export function valuesAbout(match, mode, shown) {
  const isTooLarge = document.querySelector("input[name=values][value=perfect]").disabled;
  const missing = isTooLarge ? " The game is too large to compute perfect play." : "";
  if (mode === "perfect") {
    return shown.perfect === null || !match.awaits_person ? "" : aboutPerfect(match, shown);
  }
  if (shown.values.size === 0) {
    return (mode !== "none" && match.awaits_person ? noValues(match.opponent) : "") + missing;
  }
  if (shown.arePoints || shown.scale.isExact) {
    return `${KINDS[shown.arePoints ? "points" : "scores"]}${missing}`;
  }
  const share = shown.shares.size === 0 ? "" : " Below it: the share of its simulations.";
  return `The value of each move for you, as estimated by ${match.opponent.label}.${share}${missing}`;
}

function aboutPerfect(match, { values, words, perfect }) {
  if (!perfect.isComplete) {
    return `${KINDS[perfect.kind]} This position takes longer: it is still being solved.`;
  }
  const highest = Math.max(...values.values());
  const best = match.legal.filter(({ action }) => values.get(action) === highest);
  const names = best.map(({ text }) => text).join(", ");
  return KINDS[perfect.kind] + (perfect.kind === "results" ? "" : ` Best: ${names} (${words.get(best[0].action)}).`);
}

const noValues = ({ kind, label }) =>
  kind === "perfect" ? `${label} is still solving this position.` : `${label} does not estimate values.`;

// Whose values the curve shows, and from which move on they are exact.
export function curveSource(match) {
  if (match.plies.every((ply) => ply.value === null)) {
    return "";
  }
  const valued = match.plies.filter((ply) => ply.value !== null);
  const first = match.plies.findIndex((ply) => ply.words !== null);
  const unit = valued.some((ply) => ply.value_is_points) ? ", in discs" : "";
  if (valued.every((ply) => ply.words !== null)) {
    return `— exact${unit}`;
  }
  return `— estimated by ${match.opponent.label}${first < 0 ? "" : `; from move ${first + 1} on exact${unit}`}`;
}

// ---------------------------------------------------------------------- messages

export function say(text) {
  at("status").textContent = text;
}

export function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}
