// Learning from mistakes after a match: for each mistake the person tries to find a better move.

import * as api from "./api.js";
import { clicked } from "./drawing.js";
import { goTo, review } from "./review.js";
import { show, table } from "./table.js";
import { gradeOf } from "./values.js";
import { aboutLine, fail, say } from "./words.js";

const TRY = "Find a better one.";
const named = (grade) => `${grade === "inaccuracy" ? "an" : "a"} ${grade}`;

const isStill = (lesson) => table.lesson === lesson;

// Finds the mistakes, by the best values that are known, and shows the first.
async function begin() {
  const asked = table.match;
  if (asked === null || table.isBusy || !asked.is_over) {
    return;
  }
  // mistakes: the number of plies before each. isSolved: a better move was found, or the solution shown.
  const lesson = { mistakes: [], number: 0, isSolved: false };
  table.lesson = lesson;
  review.isJudged = true;
  show();
  say("Looking for your mistakes…");
  await review.solve(asked, review.choices(asked), () => isStill(lesson)).catch(fail);
  if (isStill(lesson)) {
    const valued = review.valued(asked);
    lesson.mistakes = valued.plies.flatMap((ply, number) => (ply.by_person && gradeOf(valued, ply) !== null ? [number] : []));
    await (lesson.mistakes.length > 0 ? open(0) : end("No mistakes were found."));
  }
}

function end(said = "") {
  table.lesson = null;
  show();
  say(said || table.match.result);
}

const openNext = () => table.lesson.number + 1 < table.lesson.mistakes.length && open(table.lesson.number + 1);

async function open(number) {
  const { lesson } = table;
  Object.assign(lesson, { number, isSolved: false });
  await goTo(lesson.mistakes[number]);
  if (isStill(lesson)) {
    const ply = review.valued(table.match).plies[review.ply];
    const words = ply.words === null ? "" : ` (${ply.words})`;
    say(`Mistake ${number + 1} of ${lesson.mistakes.length}: your move ${ply.text}${words} is ${named(ply.grade)}. ${TRY}`);
  }
}

// An action that the person tries in place of the mistake.
export function attempt(action) {
  const { text } = review.position(table.match).legal.find((one) => one.action === action);
  const judged = review.judged.get(review.ply);
  const grade = judged?.known.get(action)?.grade;
  if (!judged?.isComplete) {
    say("This position is still being solved; try again in a moment.");
  } else if (grade === null) {
    solve(`Right: ${text} is good.`);
  } else {
    const isSame = action === table.match.plies[review.ply].action;
    say(`${text} is ${isSame ? "the move you played" : `${named(grade)} too`}. ${TRY}`);
  }
}

// Shows the values of all moves, the best one, and what follows.
async function solve(said = "") {
  const { lesson, match } = table;
  const { ply } = review;
  const { best } = review.valued(match).plies[ply];
  const { action, square } = review.position(match).legal.find(({ text }) => text === best);
  Object.assign(table, { hint: { action, square } });
  lesson.isSolved = true;
  show();
  const words = `${said} Best: ${best}.`.trim();
  say(words);
  try {
    const hint = await api.hint(match.id, ply);
    if (isStill(lesson) && review.ply === ply && lesson.isSolved && hint.action === action) {
      say(words + aboutLine(hint));
    }
  } catch (error) {
    fail(error);
  }
}

clicked("learn", begin);
clicked("solution", () => table.lesson.isSolved || solve());
clicked("next-mistake", openNext);
clicked("end-lesson", () => goTo(Infinity).then(() => end()));
