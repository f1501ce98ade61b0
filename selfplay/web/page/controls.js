// Which buttons are shown, and which can be pressed.

import { areWatching, isOnePerson } from "./address.js";
import { isAccepted, isCounting } from "./counting.js";
import { at } from "./drawing.js";
import { cursor, isVariation, state } from "./state.js";

// In a review or an exercise, nothing is taken back by the way: that is what "Play on from here" is for. A hint in an exercise
// would be the solution.
export const canUndo = () => !state.isBusy && !state.isEdited && state.exercise === null && state.ply === null && Boolean(state.answer?.can_undo);
export const canHint = () =>
  !state.isBusy && !state.isEdited && state.exercise === null && state.answer !== null && (state.answer.awaits_person || state.ply !== null);

// Whether the person to move can resign or offer a draw.
export const canEnd = () => !state.isBusy && !state.isEdited && state.ply === null && Boolean(state.answer?.awaits_person);

const EXERCISE = ["solution", "next-mistake", "end-exercise"];

// The buttons that are shown, in their order.
function shownButtons() {
  const { answer: match, face, exercise } = state;
  if (exercise !== null) {
    return EXERCISE;
  }
  if (isCounting()) {
    return ["agree", "resume"];
  }
  const isOver = match?.is_over ?? false;
  const isWatched = areWatching(match?.people);
  const watching = isWatched && !isOver ? ["step", "run"] : [];
  const learn = isOver && !isVariation() && match?.plies.some((ply) => ply.by_person) ? ["learn"] : [];
  if (face === "analyse") {
    const variation = isVariation() ? ["to-match", "close-variation"] : state.beside === null ? [] : ["close-variation"];
    return ["play-on", ...(isVariation() ? [] : watching), "hint", ...learn, ...variation];
  }
  if (isOver) {
    return ["new", ...(isOnePerson(match?.people) ? ["rematch"] : []), ...(match?.can_undo ? ["undo"] : []), ...learn];
  }
  const isBegun = match?.plies.some((ply) => ply.by_person) ?? false;
  return ["new", ...(isWatched ? watching : ["hint", "undo", ...(isBegun ? ["resign", "draw"] : [])])];
}

// aria-disabled instead of disabled, so that a button keeps the keyboard focus.
export function showControls() {
  const { answer: match, isBusy, isEdited, isRunning, exercise, line } = state;
  const ply = cursor();
  const count = match?.plies.length ?? 0;
  const isOpen = match !== null && !match.is_over;
  const enabled = {
    new: !isBusy || isRunning,
    undo: canUndo(),
    hint: canHint(),
    agree: isAccepted(),
    resume: !isBusy,
    resign: canEnd(),
    draw: canEnd(),
    rematch: !isBusy,
    learn: !isBusy,
    step: !isBusy && isOpen,
    run: isOpen,
    "play-on": !isBusy && !isEdited && (ply < count || isVariation()),
    "to-match": !isBusy,
    "close-variation": !isBusy,
    solution: exercise?.isSolved === false && exercise.mistakes.length > 0,
    "next-mistake": exercise !== null && exercise.number + 1 < exercise.mistakes.length,
    "end-exercise": true,
  };
  const shown = shownButtons();
  Object.entries(enabled).forEach(([id, is]) => {
    at(id).setAttribute("aria-disabled", String(!is));
    at(id).hidden = !shown.includes(id);
  });
  at("run").textContent = isRunning ? "Pause" : "Run";
  // In an exercise, the line that follows the best move is stepped through.
  const [place, end] = exercise === null ? [ply, count] : [line?.step ?? 0, line?.texts.length ?? 0];
  const steps = { "to-start": place > 0, back: place > 0, forward: place < end, "to-end": place < end };
  Object.entries(steps).forEach(([id, is]) => at(id).setAttribute("aria-disabled", String(!is)));
  at("review-place").textContent = place < end ? `${place} of ${end}` : exercise === null ? `${count}` : end > 0 ? `${place} of ${end}` : "";
}
