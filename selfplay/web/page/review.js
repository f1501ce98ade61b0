// Stepping through the moves of the match, and the values of moves that the page requests in the background.

import * as address from "./address.js";
import * as api from "./api.js";
import { at } from "./drawing.js";
import { newMatch, request } from "./requests.js";
import { isShown, keepInAddress, show, table, wantsJudge } from "./table.js";
import { bestActions, gradeOf } from "./values.js";
import { aboutPosition, fail, say, whatHappened } from "./words.js";

// Seconds until a position is shown without values that are not known yet, and then between two questions for them.
const [FIRST_WAIT, NEXT_WAIT] = [0.3, 5];
const UNKNOWN = { value: null, words: null, best: null, best_value: null, best_words: null, grade: null };

class Review {
  // The opponent whose values are not known, so that they are not asked for again.
  #unknown = null;
  #actions = [];
  // Counts the changes of the match, and the calls of solve. Answers about earlier ones are ignored.
  #changes = 0;
  #solving = 0;

  constructor() {
    this.clear();
  }

  // Forgets everything about the match.
  clear() {
    // The number of plies asked for last; null: those of the match.
    this.wanted = null;
    // The position before this ply is shown; null: the current one.
    this.ply = null;
    // The match as it was, and the best values that are known, {kind, isExact, source, isComplete, known: {value, words, grade,
    // text} by action}: both by the number of plies before the position.
    this.positions = new Map();
    this.judged = new Map();
    // Whether these values of all plies are shown.
    this.isJudged = false;
    this.#unknown = null;
    this.#actions = [];
    this.#changes += 1;
  }

  // After the match has changed: its new position is shown, and only what is still true is kept.
  follow(match) {
    [this.ply, this.wanted] = [null, null];
    this.positions.clear();
    const first = this.#actions.findIndex((action, ply) => match.plies[ply]?.action !== action);
    [...this.judged.keys()].filter((ply) => first >= 0 && ply > first).forEach((ply) => this.judged.delete(ply));
    this.#actions = match.plies.map(({ action }) => action);
    this.#changes += 1;
  }

  cursor(match) {
    return this.ply ?? match.plies.length;
  }

  // The match as it was at the cursor.
  position(match) {
    return this.ply === null ? match : this.positions.get(this.ply);
  }

  async fetch(match, ply) {
    if (ply < match.plies.length && !this.positions.has(ply)) {
      const answer = await api.position(match.id, ply);
      this.positions.set(ply, { ...answer, plies: answer.plies.slice(0, ply) });
    }
  }

  // Asks for the values of plies that are not known, as after a match was brought back; take(plies) for each answer.
  async fill(match, take, isCurrent) {
    const adviser = (match.evaluator ?? match.opponent).id;
    for (let ply = 0; ply < match.plies.length && isCurrent() && this.#unknown !== adviser; ply += 1) {
      if (match.plies[ply].value === null && !match.plies[ply].is_forced) {
        const answer = await api.position(match.id, ply);
        if (answer.plies[ply]?.value === null) {
          this.#unknown = adviser;
        } else if (isCurrent()) {
          take(answer.plies);
          match = answer;
        }
      }
    }
  }

  // ---------------------------------------------------------------------- values of the judge

  async #ask(match, ply, seconds) {
    const mine = this.#changes;
    const answer = await api.judged(match.id, seconds, ply);
    const { kind, is_exact: isExact, source, actions, texts, values, words, grades, is_complete: isComplete } = answer;
    if (mine === this.#changes) {
      const known = new Map();
      actions.forEach((action, n) => {
        if (typeof values?.[n] === "number") {
          known.set(action, { text: texts[n], value: values[n], words: words[n], grade: grades[n], share: null, result: null });
        }
      });
      this.judged.set(ply, { kind, isExact, source, isComplete, known });
    }
  }

  // Asks for the values of the position that is shown, if they are wanted and a person has to choose or looks back.
  async look(match) {
    const ply = this.cursor(match);
    if (wantsJudge() && (this.ply !== null || match.awaits_person) && !this.judged.has(ply)) {
      await this.#ask(match, ply, FIRST_WAIT);
    }
  }

  // Asks for the values of these positions until all are known, and shows them.
  async solve(match, plies, isCurrent) {
    this.#solving += 1;
    const mine = this.#solving;
    const isWanted = () => mine === this.#solving && isCurrent() && wantsJudge();
    for (const ply of plies) {
      while (isWanted() && !this.judged.get(ply)?.isComplete) {
        await this.#ask(match, ply, NEXT_WAIT);
        if (isWanted()) {
          show();
        }
      }
    }
  }

  // All positions of the match in which somebody chose.
  choices = (match) => [...match.plies.keys()].filter((ply) => !match.plies[ply].is_forced);

  // The match with the values of the judge in place of all others, which have another scale; as it is if none are known.
  valued(match) {
    const plies = match.plies.map((ply, number) => ({ ...ply, ...this.#judgedPly(ply, number) }));
    const isJudged = wantsJudge() && this.isJudged && plies.some(({ value }) => value !== null);
    return isJudged ? { ...match, plies, evaluator: match.judge } : match;
  }

  #judgedPly({ action, is_forced: isForced }, number) {
    const { kind, isExact, isComplete, known } = this.judged.get(number) ?? {};
    if (isForced || !isComplete || !known.has(action)) {
      return UNKNOWN;
    }
    const { value, words, grade } = known.get(action);
    const best = known.get(bestActions(known)[0]);
    const isInPoints = kind === "points";
    const better = { best: best.text, best_value: best.value, best_words: best.words };
    return { value, words, grade, ...better, in_points: isInPoints, value_is_points: isInPoints && isExact };
  }
}

export const review = new Review();

// ---------------------------------------------------------------------- stepping

// Counts the steps asked for.
let steps = 0;

// to: a number of plies, or a function from the number of plies that are shown.
export async function goTo(to) {
  const asked = table.match;
  if (asked === null || table.isBusy || table.isRunning || table.isEdited) {
    return;
  }
  steps += 1;
  const [mine, count] = [steps, asked.plies.length];
  const ply = Math.max(0, Math.min(count, typeof to === "function" ? to(review.wanted ?? count) : to));
  const isWanted = () => asked === table.match && mine === steps;
  review.wanted = ply;
  try {
    await review.fetch(asked, ply);
    if (isWanted()) {
      review.ply = ply < count ? ply : null;
      table.hint = null;
      await review.look(asked);
    }
    if (isWanted()) {
      keepInAddress();
      show();
      sayPosition();
      askForMore();
    }
  } catch (error) {
    if (!isWanted()) {
      return;
    }
    if (error.status !== 404) {
      fail(error);
      return;
    }
    // The server does not know the match any more, as after a restart.
    await request(() => newMatch(table.visit, address.savedOf(asked)));
    if (at("error").hidden) {
      await goTo(ply);
    }
  }
}

function sayPosition() {
  const { match } = table;
  if (review.ply === null) {
    say(whatHappened(match, match.plies.length));
    return;
  }
  const valued = review.valued(match);
  const ply = valued.plies[review.ply - 1];
  const grade = ply && gradeOf(valued, ply);
  say(aboutPosition(match, review.ply, grade ? ` (${grade}; better: ${ply.best})` : ""));
}

// Values that the page gets later: estimates of a match that was brought back, and those of the judge.
export function askForMore() {
  const asked = table.match;
  if (asked === null || table.isRunning) {
    return;
  }
  const isCurrent = () => isShown(asked) && table.lesson === null;
  const takePlies = (plies) => {
    asked.plies = plies;
    show();
  };
  if (!wantsJudge()) {
    review.fill(asked, takePlies, isCurrent).catch(() => {});
  }
  review.isJudged ||= wantsJudge() && (asked.is_over || review.ply !== null);
  const here = review.ply !== null || asked.awaits_person ? [review.cursor(asked)] : [];
  const wanted = [...here, ...(review.isJudged ? review.choices(asked) : [])];
  review.solve(asked, wanted, isCurrent).catch((error) => isShown(asked) && fail(error));
}
