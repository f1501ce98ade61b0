// Shows a match: its board, counts, values and moves, and which buttons can be pressed.

import { areWatching, isOnePerson } from "./address.js";
import { drawCurve, drawLosses } from "./curve.js";
import { at, checked, element } from "./drawing.js";
import { cursor, opened, position, results, state, valued } from "./state.js";
import { gradeOf, scaleOfPly, valuesToShow, valueText } from "./values.js";
import { curveSource, scoreText, valuesAbout, whoIs } from "./words.js";

// Draws the state; goTo: shows the position after a number of plies.
export function showMatch(goTo) {
  const { game, board, answer, foreseen, hint, isBusy, isTakingOver, isEdited, lesson } = opened();
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  showControls();
  if (state.answer === null || isEdited) {
    return;
  }
  const ply = cursor();
  const shown = position();
  // In a lesson the values would be the solution.
  const mode = lesson === null ? checked("values") : !lesson.isSolved ? "none" : "perfect";
  const judged = state.judged.get(ply) ?? null;
  const { known, scale } = valuesToShow(mode, shown, judged);
  const isLast = ply === answer.plies.length;
  // Also while the opponent thinks, because otherwise the page would shift with every reply.
  const arePoints = mode === "adviser" && (shown.values_are_points || shown.plies.some((one) => one.value_is_points));
  // An action that is chosen while an opponent takes over is played afterwards.
  const isFree = !isBusy || isTakingOver;
  const isOpen = lesson === null ? isLast && answer.awaits_person && isFree : !isLast && !lesson.isSolved;
  const ghost = lesson === null ? null : (answer.plies[ply]?.action ?? null);
  board.show({ match: { ...shown, ...foreseen }, known: foreseen === null ? known : new Map(), scale, isOpen, isEdited, hint, ghost });
  at("play").classList.toggle("reviewed", !isLast && lesson === null);
  at("play").classList.toggle("learning", lesson !== null);
  document.body.dataset.plies = String(answer.plies.length);
  showCounts(game, shown, arePoints);
  if (!isBusy) {
    // While the opponent thinks they stay, so that what is below them does too.
    at("values-about").textContent = valuesAbout(shown, mode, { known, scale, judged, arePoints, isChoice: isOpen || !isLast });
    at("legend").hidden = !scale.isResult && !scale.isExact && [...known.values()].every(({ result }) => result === null);
  }
  at("standing").textContent = [answer.is_practice ? "Practice: this match does not count." : "", answer.standing ?? ""].join(" ").trim();
  at("score").textContent = scoreText(answer, results());
  const match = valued();
  drawCurve(at("curve"), { game, match, cursor: ply, goTo });
  drawLosses(at("discs-lost"), { game, match });
  at("opening").textContent = answer.opening === null ? "" : `— ${answer.opening} opening`;
  at("curve-source").textContent = curveSource(match);
  showMoves(game, match, ply, goTo);
}

// In a review or a lesson, nothing is taken back by the way: that is what "Play on from here" is for. A hint in a lesson
// would be the solution.
export const canUndo = () => !state.isBusy && state.lesson === null && state.ply === null && Boolean(state.answer?.can_undo);
export const canHint = () =>
  !state.isBusy && state.lesson === null && state.answer !== null && (state.answer.awaits_person || state.ply !== null);

// aria-disabled instead of disabled, so that a button keeps the keyboard focus.
function showControls() {
  const { answer: match, isBusy, isRunning, lesson } = state;
  const ply = cursor();
  const isWatched = areWatching(match?.people);
  const count = match?.plies.length ?? 0;
  const isOpen = match !== null && !match.is_over;
  const isAtEnd = match !== null && match.is_over && ply === count;
  const canSwap = isAtEnd && isOnePerson(match.people);
  const canLearn = isAtEnd && match.plies.some((ply) => ply.by_person);
  const enabled = {
    new: !isBusy || isRunning,
    undo: canUndo(),
    hint: canHint(),
    swap: !isBusy,
    step: !isBusy && isOpen,
    run: isOpen,
    solution: lesson?.isSolved === false && lesson.mistakes.length > 0,
    "next-mistake": lesson !== null && lesson.number + 1 < lesson.mistakes.length,
    "to-start": ply > 0,
    back: ply > 0,
    forward: ply < count,
    "to-end": ply < count,
    "play-on": !isBusy && ply < count,
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
  at("review-place").textContent = ply < count ? `${ply} of ${count}` : `${count}`;
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
function showMoves(game, match, ply, goTo) {
  const rows = match.plies.map((one, number) => {
    const scale = scaleOfPly(match, one);
    const text = (value, words) => valueText(value, scale) + (one.in_points ? " discs" : words === null ? "" : ` (${words})`);
    const grade = gradeOf(match, one);
    const move = element("button", { type: "button", class: "move", "aria-current": ply === number + 1 ? "step" : null }, one.text);
    move.addEventListener("click", () => goTo(number + 1));
    const cells = [
      String(number + 1),
      `${match.seat_names[one.seat]} (${whoIs(match, one.seat)})`,
      move,
      one.value === null ? "" : text(one.value, one.words),
      grade === null ? "" : `${grade}: ${one.best} ${text(one.best_value, one.best_words)}`,
    ];
    return element("tr", { class: grade }, ...cells.map((content) => element("td", {}, content)));
  });
  const heads = ["", "player", "move", match.plies.some(({ value }) => value !== null) && match.plies.every(isExactOrUnknown) ? "exact score" : "value to the mover", "better"];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  at("plies").replaceChildren(element("caption", { class: "quiet" }, game.grades), element("thead", {}, head), element("tbody", {}, ...rows));
}
