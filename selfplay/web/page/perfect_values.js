// The values of the actions of a position with perfect play, which the server may need some time to find.

import * as api from "./api.js";

// Seconds to wait before the position is shown without values, and then for each further answer.
const [FIRST_WAIT, NEXT_WAIT] = [0.3, 5];

export class PerfectValues {
  // isWanted(): whether the page shows these values; show() and fail(error): called after a later answer or error.
  constructor(isWanted, show, fail) {
    // {kind, values, words, grades, isComplete} of the position asked for last; null while nothing is known.
    this.known = null;
    // Counts the positions asked for. Answers about earlier ones are ignored.
    this.number = 0;
    Object.assign(this, { isWanted, show, fail });
  }

  clear() {
    this.number += 1;
    this.known = null;
  }

  // Most positions are solved at once. The values of the others are shown as they become known.
  // ply: the position before this ply; null: the current one, if a person has to choose.
  async fetch(match, ply = null) {
    this.clear();
    const number = this.number;
    if (this.isWanted() && (ply !== null || match.awaits_person)) {
      await this.#take(match, ply, number, FIRST_WAIT);
      this.#complete(match, ply, number);
    }
  }

  async #take(match, ply, number, seconds) {
    const answer = await api.perfect(match.id, seconds, ply);
    if (number === this.number) {
      const byAction = (list) => new Map(answer.actions.map((action, place) => [action, list?.[place] ?? null]));
      const [values, words, grades] = [answer.values, answer.words, answer.grades].map(byAction);
      this.known = { kind: answer.kind, values, words, grades, isComplete: answer.is_complete };
    }
  }

  async #complete(match, ply, number) {
    try {
      while (number === this.number && this.known !== null && !this.known.isComplete && this.isWanted()) {
        await this.#take(match, ply, number, NEXT_WAIT);
        if (number === this.number) {
          this.show();
        }
      }
    } catch (error) {
      if (number === this.number) {
        this.fail(error);
      }
    }
  }
}
