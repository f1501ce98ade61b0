// The table of the moves: their values, and what would have been better.

import { element } from "./drawing.js";
import { scaleOfPly, valueText } from "./values.js";
import { whoIs } from "./words.js";

// Estimates that differ by less than this share of their scale are equally good.
const SLIGHT = 0.05;
const SLIGHT_POINTS = 0.5;

function unit(ply, words) {
  return ply.in_points ? " discs" : words === null ? "" : ` (${words})`;
}

// What would have been better than a ply by the values of its player, as text; empty if it was among the best.
export function better(match, ply) {
  if (ply.best_value === null || ply.best === ply.text) {
    return "";
  }
  const scale = scaleOfPly(match, ply);
  const slight = scale.isExact ? 0 : scale.inPoints ? SLIGHT_POINTS : scale.span === null ? 0 : SLIGHT * scale.span;
  const gain = ply.best_value - ply.value;
  return gain > slight ? `${ply.best} ${valueText(ply.best_value, scale)}${unit(ply, ply.best_words)}` : "";
}

// What a ply threw away, by its exact values: {what, instead}; null if its result was still the best.
export function mistake(judged) {
  const results = { wins: 2, draws: 1, loses: 0 };
  const [played, best] = [judged.words, judged.best_words].map((words) => results[words.split(" ")[0]]);
  return played < best ? { what: best === 2 ? "threw away the win" : "threw away the draw", instead: judged.best } : null;
}

export const mistakesOf = (judged) =>
  new Map([...judged].map(([number, one]) => [number, mistake(one)]).filter(([, found]) => found !== null));

const UNKNOWN = { value: null, words: null, best: null, best_value: null, best_words: null };

// The match with exact values in place of all estimates, which have another scale; as it is if none are known.
export function withExactValues(match, judged) {
  const plies = match.plies.map((ply, number) => ({ ...ply, ...(judged.get(number) ?? UNKNOWN) }));
  return judged.size === 0 ? match : { ...match, plies, isExact: true };
}

// {match, cursor, judged: Map of ply to its exact values, choose(ply)}; the match has these values already.
export function showMoves(table, { match, cursor, judged, choose }) {
  const found = mistakesOf(judged);
  const rows = match.plies.map((ply, number) => {
    const value = ply.value === null ? "" : valueText(ply.value, scaleOfPly(match, ply)) + unit(ply, ply.words);
    const verdict = found.get(number);
    const said = verdict ? `${verdict.what}: ${verdict.instead} ${ply.best_words}` : better(match, ply);
    const move = element("button", { type: "button", class: "move", "aria-current": cursor === number + 1 ? "step" : null }, ply.text);
    move.addEventListener("click", () => choose(number + 1));
    const cells = [String(number + 1), `${match.seat_names[ply.seat]} (${whoIs(match, ply.seat)})`, move, value, said];
    return element("tr", { class: verdict ? "mistake" : null }, ...cells.map((content) => element("td", {}, content)));
  });
  const heads = ["", "player", "move", match.isExact ? "exact score" : "value to the mover", "better"];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}
