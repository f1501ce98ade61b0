// Stepping through the moves of a match, and what is asked of the server for all of them.

import * as api from "./api.js";

const SECONDS = 5;

export class Review {
  // isExact(): whether exact values are wanted; show(): called when more is known.
  constructor(isExact, show) {
    Object.assign(this, { isExact, show });
    this.clear();
  }

  // Forgets everything about the match.
  clear() {
    // The number of plies asked for last; null: those of the match.
    this.wanted = null;
    // The position before this ply is shown; null: the current one.
    this.ply = null;
    // The match as it was before a ply, by ply.
    this.positions = new Map();
    // The exact value of each ply and of the best one instead, by ply, in fields of a ply.
    this.judged = new Map();
    this.#unknown = null;
    this.#judging += 1;
  }

  // The opponent whose values are not known, so that they are not asked for again.
  #unknown = null;
  // Counts the matches and changes of matches. Answers about earlier ones are ignored.
  #judging = 0;

  // After the match has changed: its new position is shown, and only what is still true is kept.
  follow(match) {
    [this.ply, this.wanted] = [null, null];
    this.positions.clear();
    this.#judging += 1;
    this.judged.forEach((one, ply) => match.plies[ply]?.action === one.action || this.judged.delete(ply));
  }

  cursor(match) {
    return this.ply ?? match.plies.length;
  }

  // The match as it was at the cursor.
  position(match) {
    return this.ply === null ? match : this.positions.get(this.ply);
  }

  // Shows the position before a ply; returns whether another request came first.
  async go(match, ply) {
    this.wanted = ply;
    if (ply < match.plies.length && !this.positions.has(ply)) {
      const answer = await api.position(match.id, ply);
      this.positions.set(ply, { ...answer, plies: answer.plies.slice(0, ply) });
    }
    if (this.wanted === ply) {
      this.ply = ply < match.plies.length ? ply : null;
      this.wanted = this.ply;
      return false;
    }
    return true;
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

  // Asks for the exact value of each ply, if they are wanted and the match is over or stepped through.
  async judge(match) {
    this.#judging += 1;
    const mine = this.#judging;
    for (let ply = 0; ply < match.plies.length; ply += 1) {
      if (!this.judged.has(ply) && !match.plies[ply].is_forced) {
        const isFound = await this.#judgeOne(match, ply, mine);
        if (mine !== this.#judging || !this.isExact() || !isFound) {
          return;
        }
      }
    }
  }

  async #judgeOne(match, ply, mine) {
    const { action } = match.plies[ply];
    let answer = null;
    do {
      answer = await api.perfect(match.id, SECONDS, ply);
    } while (!answer.is_complete && mine === this.#judging && this.isExact());
    if (answer.values === null || mine !== this.#judging || !answer.is_complete) {
      return false;
    }
    const best = answer.values.indexOf(Math.max(...answer.values));
    const played = answer.actions.indexOf(action);
    const [value, words] = [answer.values[played], answer.words[played]];
    const [best_value, best_words] = [answer.values[best], answer.words[best]];
    const grade = answer.grades[played];
    const in_points = answer.kind === "points";
    this.judged.set(ply, { action, value, words, best: answer.texts[best], best_value, best_words, grade, in_points, value_is_points: in_points });
    this.show();
    return true;
  }
}
