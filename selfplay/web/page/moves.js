// The table of the moves: their values, and what would have been better.

import { element } from "./drawing.js";
import { scaleOfPly, valueText } from "./values.js";
import { whoIs } from "./words.js";

function unit(ply, words) {
  return ply.in_points ? " discs" : words === null ? "" : ` (${words})`;
}

// How bad a ply was; null if it was about the best, or if its value has no unit, as those of some searches.
export function gradeOf(match, ply) {
  const scale = scaleOfPly(match, ply);
  return scale.span === null && !scale.isExact && !scale.inPoints ? null : ply.grade;
}

const UNKNOWN = { value: null, words: null, best: null, best_value: null, best_words: null, grade: null };

// The match with exact values in place of all estimates, which have another scale; as it is if none are known.
export function withExactValues(match, judged) {
  const plies = match.plies.map((ply, number) => ({ ...ply, ...(judged.get(number) ?? UNKNOWN) }));
  return judged.size === 0 ? match : { ...match, plies, isExact: true };
}

// {game, match, cursor, choose(ply)}; the match has exact values already if they are wanted.
export function showMoves(table, { game, match, cursor, choose }) {
  const rows = match.plies.map((ply, number) => {
    const scale = scaleOfPly(match, ply);
    const value = ply.value === null ? "" : valueText(ply.value, scale) + unit(ply, ply.words);
    const grade = gradeOf(match, ply);
    const better = grade === null ? "" : `${grade}: ${ply.best} ${valueText(ply.best_value, scale)}${unit(ply, ply.best_words)}`;
    const move = element("button", { type: "button", class: "move", "aria-current": cursor === number + 1 ? "step" : null }, ply.text);
    move.addEventListener("click", () => choose(number + 1));
    const cells = [String(number + 1), `${match.seat_names[ply.seat]} (${whoIs(match, ply.seat)})`, move, value, better];
    return element("tr", { class: grade }, ...cells.map((content) => element("td", {}, content)));
  });
  const heads = ["", "player", "move", match.isExact ? "exact score" : "value to the mover", "better"];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  table.replaceChildren(element("caption", { class: "quiet" }, game.grades), element("thead", {}, head), element("tbody", {}, ...rows));
}
