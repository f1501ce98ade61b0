// Sentences about a match.

import { areTwoPeople, areWatching } from "./address.js";
import { at } from "./drawing.js";
import { adviserOf, silentOf, valueText } from "./values.js";

// Who holds a seat, in one or two words.
export function whoIs(match, seat) {
  if (match.person_seat !== null) {
    return seat === match.person_seat ? "you" : "it";
  }
  return match.seats[seat]?.label ?? "a person";
}

// The player of a seat who has to move.
export const isThinking = (match, seat, isSolving = false) =>
  `${(match.seats[seat] ?? match.opponent).label} is ${isSolving ? "still solving this position" : "thinking"}…`;

// What the person can do after an error.
export function whatToDo(match) {
  if (match === null) {
    return "No match is open. Choose another opponent, or press New match.";
  }
  return match.is_over ? match.result : match.awaits_person ? yourTurn(match) : "Press Undo or New match.";
}

function yourTurn(match) {
  return areTwoPeople(match.people) ? `${capital(match.seat_names[match.to_move])} to move.` : "Your turn.";
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// How an action was chosen, as the end of a sentence; empty if this is not known.
const how = ({ is_random, reason }) => (is_random ? " at random" : reason === null ? "" : `: ${reason}`);

export function whatHappened(match, before) {
  const words = match.plies.slice(Math.min(before, match.plies.length)).flatMap((ply) => {
    const player = match.seats[ply.seat];
    const name = areWatching(match.people) ? `${capital(match.seat_names[ply.seat])}, ${player.label},` : player?.label;
    if (ply.is_forced) {
      return [player === null ? (areTwoPeople(match.people) ? `${capital(match.seat_names[ply.seat])} can only pass.` : "You can only pass.") : `${name} can only pass.`];
    }
    return player === null ? [] : [`${name} plays ${ply.text}${how(ply)}.`];
  });
  if (match.is_over) {
    words.push(match.result);
  } else if (areWatching(match.people)) {
    words.push(match.plies.length === 0 ? "Press Run, or Step for one move." : "");
  } else {
    const hasMoved = match.plies.some((ply) => ply.by_person && !ply.is_forced);
    const isKnown = areTwoPeople(match.people) || (words.length > 0 && hasMoved);
    words.push(isKnown ? yourTurn(match) : `Your turn: you are ${match.seat_names[match.person_seat]}.`);
  }
  return words.join(" ").trim();
}

// Wins of the person, or of who moves first, and of the other; empty before the first end of a match.
/** @type {(match: MatchView, results: number[]) => string} */
export function scoreText(match, [one, other, drawn]) {
  if (one + other + drawn === 0) {
    return "";
  }
  const first = match.person_seat ?? 0;
  const name = (seat) => match.seats[seat]?.label ?? (areTwoPeople(match.people) ? capital(match.seat_names[seat]) : "You");
  return `${name(first)} ${one} : ${other} ${name(1 - first)}${drawn > 0 ? `, ${drawn} drawn` : ""}`;
}

export function aboutHint({ judge }, { in_points: inPoints, source, text, value, words }) {
  const estimated = inPoints ? `${valueText(value, { inPoints, span: null })} discs` : valueText(value, judge);
  return words === null ? `${source} would play ${text} here (value ${estimated}).` : `${source}: ${text} ${words}.`;
}

export const aboutLine = ({ line }) => (line.length > 1 ? ` Best line: ${line.join(" ")}.` : "");

// What is shown while stepping through the moves: the last move of the position.
export function aboutPosition(match, cursor, verdict) {
  const ply = match.plies[cursor - 1];
  if (ply === undefined) {
    return "The first position.";
  }
  return `Move ${cursor} of ${match.plies.length}: ${match.seat_names[ply.seat]} (${whoIs(match, ply.seat)}) ${ply.is_forced ? "passes" : `plays ${ply.text}`}${verdict}.`;
}

const KINDS = {
  results: "The result of each move with perfect play.",
  scores: "The exact score of each move with perfect play. A sooner win and a later loss score higher.",
  points: "Exact: the number of discs by which each move wins or loses if both play perfectly.",
};

// What the values on the board mean; mode is the choice of the person.
// shown: {known, scale, judged, arePoints, isChoice}
export function valuesAbout(match, mode, { known, scale, judged, arePoints, isChoice }) {
  if (mode === "perfect") {
    return judged === null || !isChoice ? "" : aboutJudged(judged);
  }
  const adviser = adviserOf(match, match.to_move ?? 0);
  const values = [...known.values()];
  if (values.every(({ value }) => value === null)) {
    return mode !== "none" && isChoice ? noValues(match) : "";
  }
  if (arePoints || scale.isExact) {
    return KINDS[arePoints ? "points" : "scores"];
  }
  const whose = match.person_seat === match.to_move && match.person_seat !== null ? "you" : match.seat_names[match.to_move];
  const unit = scale.inPoints ? ", in discs" : "";
  const share = values.every(({ share }) => share === null) ? "" : " Below it: the share of its simulations.";
  const isResultKnown = values.some(({ result }) => result !== null);
  const results = isResultKnown ? " Below it and as its colour: the result if both play perfectly." : "";
  const about = `The value of each move for ${whose}${unit}; above ${scale.neutral} is good.`;
  return `${about} It is estimated by ${adviser.label}, against ${adviser.values_hold}.${share}${results}`;
}

function aboutJudged({ kind, isExact, source, known, isComplete }) {
  if (!isExact) {
    return `The value of each move${kind === "points" ? ", in discs" : ""}, estimated by ${source}.`;
  }
  if (!isComplete) {
    return `${KINDS[kind]} This position takes longer: it is still being solved.`;
  }
  const highest = Math.max(...[...known.values()].map(({ value }) => value));
  const best = [...known.values()].filter(({ value }) => value === highest);
  const names = best.map(({ text }) => text).join(", ");
  return KINDS[kind] + (kind === "results" || best.length === 0 ? "" : ` Best: ${names} (${best[0].words}).`);
}

function noValues(match) {
  const { kind, label } = silentOf(match) ?? match.evaluator ?? match.opponent;
  return kind === "perfect" ? `${label} is still solving this position.` : `${label} does not estimate values.`;
}

// Whose values the curve shows, and from which move on they are exact.
export function curveSource(match) {
  if (match.plies.every((ply) => ply.value === null)) {
    return "";
  }
  const valued = match.plies.filter((ply) => ply.value !== null);
  const first = match.plies.findIndex((ply) => ply.words !== null);
  const unit = valued.every((ply) => ply.in_points) ? ", in discs" : "";
  if (valued.every((ply) => ply.words !== null)) {
    return `— exact${unit}`;
  }
  const advisers = new Set([0, 1].map((seat) => adviserOf(match, seat).label));
  const whose = advisers.size > 1 ? "the players" : [...advisers][0];
  return `— estimated by ${whose}${unit}, smoothed${first < 0 ? "" : `; from move ${first + 1} on exact`}`;
}

// ---------------------------------------------------------------------- messages

export function say(text) {
  at("status").textContent = text;
}

export function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}
