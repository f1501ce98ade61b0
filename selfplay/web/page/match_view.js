// Shows a match: its board, counts, values and moves, and which buttons can be pressed.

import { areWatching, isOnePerson } from "./address.js";
import { drawCurve, drawLosses } from "./curve.js";
import { at, checked, element } from "./drawing.js";
import { goTo } from "./review.js";
import { showMovesText } from "./share.js";
import { gradeOf, scaleOfPly, valuesToShow, valueText } from "./values.js";
import { curveSource, valuesAbout, whoIs } from "./words.js";

// The current match, and the position of it that is reviewed.
export function showMatch(table, review) {
  const { game, board, match, foreseen, hint, isBusy, isEdited, lesson } = table;
  const cursor = match === null ? 0 : review.cursor(match);
  showMovesText(match);
  if (match === null || isEdited) {
    return;
  }
  const position = review.position(match);
  // In a lesson the values would be the solution.
  const mode = lesson === null ? checked("values") : !lesson.isSolved ? "none" : "perfect";
  const judged = review.judged.get(cursor) ?? null;
  const { known, scale } = valuesToShow(mode, position, judged);
  const isLast = cursor === match.plies.length;
  // Also while the opponent thinks, because otherwise the page would shift with every reply.
  const arePoints = mode === "adviser" && (position.values_are_points || position.plies.some((ply) => ply.value_is_points));
  const isOpen = lesson === null ? isLast && match.awaits_person && !isBusy : !isLast && !lesson.isSolved;
  const ghost = lesson === null ? null : (match.plies[cursor]?.action ?? null);
  board.show({ match: { ...position, ...foreseen }, known: foreseen === null ? known : new Map(), scale, isOpen, isEdited, hint, ghost });
  at("play").classList.toggle("reviewed", !isLast && lesson === null);
  at("play").classList.toggle("learning", lesson !== null);
  document.body.dataset.plies = String(match.plies.length);
  showCounts(game, position, arePoints);
  if (!isBusy) {
    // While the opponent thinks they stay, so that what is below them does too.
    at("values-about").textContent = valuesAbout(position, mode, { known, scale, judged, arePoints, isChoice: isOpen || !isLast });
    at("legend").hidden = !scale.isResult && !scale.isExact && [...known.values()].every(({ result }) => result === null);
  }
  at("standing").textContent = (match.is_practice ? "Practice: this match does not count. " : "") + (match.standing ?? "");
  at("score").textContent = match.score ?? "";
  const valued = review.valued(match);
  drawCurve(at("curve"), { game, match: valued, cursor });
  drawLosses(at("discs-lost"), { game, match: valued });
  at("opening").textContent = match.opening === null ? "" : `— ${match.opening} opening`;
  at("curve-source").textContent = curveSource(valued);
  showMoves(game, valued, cursor);
}

// In a review or a lesson, nothing is taken back by the way: that is what "Play on from here" is for. A hint in a lesson
// would be the solution.
export const canUndo = ({ match, isBusy, lesson }, review) => !isBusy && lesson === null && review.ply === null && Boolean(match?.can_undo);
export const canHint = ({ match, isBusy, lesson }, review) =>
  !isBusy && lesson === null && match !== null && (match.awaits_person || review.ply !== null);

// aria-disabled instead of disabled, so that a button keeps the keyboard focus.
export function showControls(table, review) {
  const { match, isBusy, isRunning, lesson } = table;
  const cursor = match === null ? 0 : review.cursor(match);
  const isWatched = areWatching(match?.people);
  const count = match?.plies.length ?? 0;
  const isOpen = match !== null && !match.is_over;
  const isAtEnd = match !== null && match.is_over && cursor === count;
  const canSwap = isAtEnd && isOnePerson(match.people);
  const canLearn = isAtEnd && match.plies.some((ply) => ply.by_person);
  const enabled = {
    new: !isBusy || isRunning,
    undo: canUndo(table, review),
    hint: canHint(table, review),
    swap: !isBusy,
    step: !isBusy && isOpen,
    run: isOpen,
    solution: lesson?.isSolved === false && lesson.mistakes.length > 0,
    "next-mistake": lesson !== null && lesson.number + 1 < lesson.mistakes.length,
    "to-start": cursor > 0,
    back: cursor > 0,
    forward: cursor < count,
    "to-end": cursor < count,
    "play-on": !isBusy && cursor < count,
  };
  const hidden = {
    undo: isWatched,
    "hint-or-swap": isWatched,
    step: !isWatched,
    run: !isWatched,
  };
  // These keep their places.
  const away = { review: lesson !== null, lesson: lesson === null, learn: !canLearn, "play-on": canLearn, hint: canSwap, swap: !canSwap };
  Object.entries(enabled).forEach(([id, is]) => at(id).setAttribute("aria-disabled", String(!is)));
  Object.entries(hidden).forEach(([id, is]) => (at(id).hidden = is));
  Object.entries(away).forEach(([id, is]) => at(id).classList.toggle("away", is));
  at("run").textContent = isRunning ? "Pause" : "Run";
  at("review-place").textContent = cursor < count ? `${cursor} of ${count}` : `${count}`;
}

function showCounts(game, match, arePoints) {
  const sides = (match.counts ?? []).map((count, seat) => {
    const disc = element("span", { class: `disc small ${game.stone_colours?.[seat] ?? ""}`, "aria-hidden": "true" });
    const name = ` ${match.seat_names[seat]} (${whoIs(match, seat)})`;
    return element("span", { class: match.to_move === seat ? "side turn" : "side" }, disc, element("b", {}, String(count)), name);
  });
  // Its place is kept while it is not shown.
  const exact = element("span", { id: "in-discs", class: arePoints ? "quiet" : "quiet away" }, "exact");
  at("counts").hidden = match.counts === null;
  at("counts").replaceChildren(...sides, exact);
}

const isExactOrUnknown = ({ value, words }) => value === null || words !== null;

// The table of the moves, with their values and better moves.
function showMoves(game, match, cursor) {
  const rows = match.plies.map((ply, number) => {
    const scale = scaleOfPly(match, ply);
    const text = (value, words) => valueText(value, scale) + (ply.in_points ? " discs" : words === null ? "" : ` (${words})`);
    const grade = gradeOf(match, ply);
    const move = element("button", { type: "button", class: "move", "aria-current": cursor === number + 1 ? "step" : null }, ply.text);
    move.addEventListener("click", () => goTo(number + 1));
    const cells = [
      String(number + 1),
      `${match.seat_names[ply.seat]} (${whoIs(match, ply.seat)})`,
      move,
      ply.value === null ? "" : text(ply.value, ply.words),
      grade === null ? "" : `${grade}: ${ply.best} ${text(ply.best_value, ply.best_words)}`,
    ];
    return element("tr", { class: grade }, ...cells.map((content) => element("td", {}, content)));
  });
  const heads = ["", "player", "move", match.plies.some(({ value }) => value !== null) && match.plies.every(isExactOrUnknown) ? "exact score" : "value to the mover", "better"];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  at("plies").replaceChildren(element("caption", { class: "quiet" }, game.grades), element("thead", {}, head), element("tbody", {}, ...rows));
}
