// Learning from mistakes after a match: for each mistake the person tries to find a better move.

import { clicked } from "./drawing.js";
import { ask, goTo, solve } from "./review.js";
import { choices, position, state, valued } from "./state.js";
import { gradeOf } from "./values.js";
import { aboutLine, fail, say } from "./words.js";

const TRY = "Find a better one.";
const named = (grade) => `${grade === "inaccuracy" ? "an" : "a"} ${grade}`;

const isStill = (lesson) => state.lesson === lesson;

// Finds the mistakes, by the best values that are known, and shows the first.
async function begin() {
  const asked = state.answer;
  if (asked === null || state.isBusy || !asked.is_over) {
    return;
  }
  // mistakes: the number of plies before each. isSolved: a better move was found, or the solution shown.
  const lesson = { mistakes: [], number: 0, isSolved: false };
  Object.assign(state, { lesson, isJudged: true });
  state.render();
  say("Looking for your mistakes…");
  await solve(choices(asked), () => isStill(lesson)).catch(fail);
  if (isStill(lesson)) {
    const shown = valued();
    lesson.mistakes = shown.plies.flatMap((ply, number) => (ply.by_person && gradeOf(shown, ply) !== null ? [number] : []));
    await (lesson.mistakes.length > 0 ? open(0) : end("No mistakes were found."));
  }
}

function end(said = "") {
  state.lesson = null;
  state.render();
  say(said || state.answer.result);
}

const openNext = () => state.lesson.number + 1 < state.lesson.mistakes.length && open(state.lesson.number + 1);

async function open(number) {
  const { lesson } = state;
  Object.assign(lesson, { number, isSolved: false });
  await goTo(lesson.mistakes[number]);
  if (isStill(lesson)) {
    const ply = valued().plies[state.ply];
    const words = ply.words === null ? "" : ` (${ply.words})`;
    say(`Mistake ${number + 1} of ${lesson.mistakes.length}: your move ${ply.text}${words} is ${named(ply.grade)}. ${TRY}`);
  }
}

// An action that the person tries in place of the mistake.
export function attempt(action) {
  const { text } = position().legal.find((one) => one.action === action);
  const judged = state.judged.get(state.ply);
  const grade = judged?.known.get(action)?.grade;
  if (!judged?.isComplete) {
    say("This position is still being solved; try again in a moment.");
  } else if (grade === null) {
    showSolution(`Right: ${text} is good.`);
  } else {
    const isSame = action === state.answer.plies[state.ply].action;
    say(`${text} is ${isSame ? "the move you played" : `${named(grade)} too`}. ${TRY}`);
  }
}

// Shows the values of all moves, the best one, and what follows.
async function showSolution(said = "") {
  const { lesson, ply } = state;
  const { best } = valued().plies[ply];
  const { action, square } = position().legal.find(({ text }) => text === best);
  state.hint = { action, square };
  lesson.isSolved = true;
  state.render();
  const words = `${said} Best: ${best}.`.trim();
  say(words);
  try {
    const { hint } = await ask({ ply, show: ["hint"] });
    if (isStill(lesson) && state.ply === ply && lesson.isSolved && hint.action === action) {
      say(words + aboutLine(hint));
    }
  } catch (error) {
    fail(error);
  }
}

clicked("learn", begin);
clicked("solution", () => state.lesson.isSolved || showSolution());
clicked("next-mistake", openNext);
clicked("end-lesson", () => goTo(Infinity).then(() => end()));
