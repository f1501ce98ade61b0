// The result of a random match as the value of a position, as RolloutEvaluator in selfplay/search/mcts/evaluator.py.

import { below, fold } from "./random.js";
import * as rules from "./rules.js";

/** @implements {Evaluator} */
export class Rollouts {
  /** @param {import("./game.js").Game} game */
  constructor(game) {
    this.game = game;
    this.logits = new Array(game.numActions).fill(0);
  }

  // The value to the player to move. bits: the random bits of the position. All actions are equally promising.
  /** @type {(position: Position, bits: bigint) => {value: number, logits: number[]}} */
  evaluation(position, bits) {
    const ofMatch = fold(bits, 0);
    for (let ply = 0, sign = 1; ; ply += 1) {
      const legal = rules.legalActions(position);
      if (legal === 0n && rules.isTerminal(position) !== 0n) {
        return { value: sign * this.game.valueAtEnd(position) + 0, logits: this.logits };
      }
      const actions = this.game.actions(position, legal);
      position = this.game.play(position, actions[below(fold(ofMatch, ply), actions.length)]);
      sign = this.game.turned(position, sign);
    }
  }
}
