// Learning from mistakes after a match: for each mistake the person tries to find a better move.

import { clicked } from "./drawing.js";
import { answerTo, ask, goTo, sayEnd, solve } from "./review.js";
import { choices, judgedMatch, keepInAddress, movesBefore, opened, position, state, valued } from "./state.js";
import { areComparable, bestActions, gradeOf } from "./values.js";
import { judgedOf } from "./view.js";
import { aboutLine, fail, notJudged, say } from "./words.js";

const TRY = "Find a better one.";
const UNKNOWN = "unknown";
/** @type {(grade: Grade) => string} */
const named = (grade) => `${grade === "inaccuracy" ? "an" : "a"} ${grade}`;

// The state during an exercise, in which an earlier position is shown.
/** @returns {State & {exercise: Exercise, ply: number}} */
const inExercise = () => /** @type {any} */ (state);

/** @type {(exercise: Exercise) => boolean} */
const isStill = (exercise) => state.exercise === exercise;

// Finds the mistakes, by the best values that are known, and shows the first.
async function begin() {
  const asked = state.answer;
  if (asked === null || state.isBusy || !asked.is_over) {
    return;
  }
  // mistakes: the number of plies before each. isSolved: a better move was found, or the solution shown.
  /** @type {Exercise} */
  const exercise = { mistakes: [], number: 0, isSolved: false };
  Object.assign(state, { exercise, line: null, face: "analyse" });
  keepInAddress();
  state.render();
  say("Looking for your mistakes…");
  await solve(choices(asked), () => isStill(exercise)).catch(fail);
  if (isStill(exercise)) {
    const shown = valued();
    exercise.mistakes = shown.plies.flatMap((ply, number) => (ply.by_person && gradeOf(shown, ply) !== null ? [number] : []));
    await (exercise.mistakes.length > 0 ? open(0) : end("There is no mistake to learn from."));
  }
}

function end(said = "") {
  Object.assign(state, { exercise: null, line: null });
  state.render();
  sayEnd(said || opened().answer.result);
}

function openNext() {
  const { mistakes, number } = inExercise().exercise;
  return number + 1 < mistakes.length && open(number + 1);
}

/** @type {(number: number) => Promise<void>} */
async function open(number) {
  const { exercise } = inExercise();
  Object.assign(exercise, { number, isSolved: false });
  state.line = null;
  await goTo(exercise.mistakes[number]);
  if (isStill(exercise)) {
    const ply = valued().plies[inExercise().ply];
    const words = ply.words === null ? "" : ` (${ply.words})`;
    say(`Mistake ${number + 1} of ${exercise.mistakes.length}: your move ${ply.name}${words} is ${named(ply.grade)}. ${TRY}${exercise.number === 0 ? unjudged() : ""}`);
  }
}

function unjudged() {
  const text = notJudged(judgedMatch());
  return text === "" ? "" : ` (${text}.)`;
}

// An action that the person tries in place of the mistake.
/** @type {(action: number) => Promise<void>} */
export async function attempt(action) {
  const { exercise, ply } = inExercise();
  const { text = "", name = "" } = position().legal.find((one) => one.action === action) ?? {};
  const judged = state.judged.get(ply);
  if (!judged?.isComplete) {
    say("This position is still being solved; try again in a moment.");
    return;
  }
  /** @type {Grade | typeof UNKNOWN | void} */
  const grade = judged.isExact ? judged.known.get(action)?.grade : await gradeAgainstBest(ply, action, text).catch(fail);
  if (grade === undefined || !isStill(exercise) || state.ply !== ply) {
    return;
  }
  if (grade === UNKNOWN) {
    say(`Whether ${name} is as good as the best move is not known. ${TRY}`);
  } else if (grade === null) {
    showSolution(`Right: ${name} is good.`);
  } else {
    const isSame = action === opened().answer.plies[ply].action;
    say(`${name} is ${isSame ? "the move you played" : `${named(grade)} too`}. ${TRY}`);
  }
}

// The grade of a move that the judge compares with the best one, as it does with those of the match; UNKNOWN if it cannot.
/** @type {(ply: number, action: number, text: string) => Promise<Grade | typeof UNKNOWN>} */
async function gradeAgainstBest(ply, action, text) {
  const { game, answer } = opened();
  const moves = `${movesBefore(answer, ply)} ${text}`.trim();
  const { judged } = await ask({ moves, ply, advance: false, show: ["judged"] });
  const { known } = judgedOf(game, answer, judged);
  const [one, best] = [known.get(action), known.get(bestActions(known)[0])];
  return one === undefined || best === undefined || !areComparable(one, best) ? UNKNOWN : one.grade;
}

// Shows the values of all moves, the best one, and what follows.
async function showSolution(said = "") {
  const { exercise, ply } = inExercise();
  const { best } = valued().plies[ply];
  const action = best?.action ?? null;
  Object.assign(state, { hint: action, hintLine: [] });
  exercise.isSolved = true;
  state.render();
  const words = `${said} Best: ${best?.name}.`.trim();
  say(words);
  try {
    const { hint } = await ask({ ply, show: ["hint"] });
    if (isStill(exercise) && state.ply === ply && exercise.isSolved && hint.action === action) {
      Object.assign(state, { line: { texts: hint.line, names: hint.line_names, views: [], step: 0 }, hintLine: hint.line_squares.slice(1) });
      state.render();
      say(words + aboutLine(hint));
    }
  } catch (error) {
    fail(error);
  }
}

// Shows the position after some moves of the best line. to: their number, or a function from the number that is shown.
/** @type {(to: Step) => Promise<void>} */
export async function stepTo(to) {
  const { exercise, line, ply } = inExercise();
  if (line === null) {
    return;
  }
  const { match, answer } = opened();
  const step = Math.max(0, Math.min(line.texts.length, typeof to === "function" ? to(line.step) : to));
  const moves = [movesBefore(answer, ply), ...line.texts.slice(0, step)].join(" ").trim();
  try {
    if (step > 0 && line.views[step - 1] === undefined) {
      line.views[step - 1] = (await answerTo({ ...match, moves })).match;
    }
    if (isStill(exercise) && state.line === line) {
      line.step = step;
      state.render();
      say(step === 0 ? `Best: ${line.names[0]}.` : `Best line, move ${step} of ${line.names.length}: ${line.names[step - 1]}.`);
    }
  } catch (error) {
    fail(error);
  }
}

clicked("learn", begin);
clicked("solution", () => inExercise().exercise.isSolved || showSolution());
clicked("next-mistake", openNext);
clicked("end-exercise", () => goTo(Infinity).then(() => end()));
