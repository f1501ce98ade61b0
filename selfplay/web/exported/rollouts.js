// The result of a random match as the value of a position, as RolloutEvaluator in selfplay/search/mcts/evaluator.py.

import { bitsOf } from "./game.js";
import { below, fold } from "./random.js";
import * as rules from "./rules.js";

/** @implements {PositionEvaluator} */
export class Rollouts {
  /** @param {import("./game.js").Game} game */
  constructor(game) {
    this.game = game;
    this.logits = new Array(game.numActions).fill(0);
  }

  // The value to the player to move. bits: the random bits of the position. All actions are equally promising.
  /** @type {(own: bigint, opp: bigint, bits: bigint) => {value: number, logits: number[]}} */
  evaluation(own, opp, bits) {
    const ofMatch = fold(bits, 0);
    for (let ply = 0; ; ply += 1) {
      const legal = rules.legalActions(own, opp);
      if (legal === 0n && rules.isTerminal(own, opp) !== 0n) {
        return { value: (ply % 2 === 0 ? 1 : -1) * this.game.valueAtEnd(own, opp) + 0, logits: this.logits };
      }
      const actions = bitsOf(legal);
      const move = legal === 0n ? 0n : 1n << BigInt(actions[below(fold(ofMatch, ply), actions.length)]);
      [own, opp] = rules.play(own, opp, move);
    }
  }
}
