// The results of random matches as values of positions, alone and mixed with those of an agent, as RolloutEvaluator in
// selfplay/search/mcts/evaluator.py and MixedEvaluator in mixed_evaluator.py.

import { below, fold } from "./random.js";
import * as rules from "./rules.js";

/** @implements {Evaluator} */
export class Rollouts {
  /**
   * @param {import("./game.js").Game} game
   * @param {number} rollouts
   */
  constructor(game, rollouts = 1) {
    this.game = game;
    this.rollouts = rollouts;
    this.logits = new Array(game.numActions).fill(0);
  }

  // The value to the player to move. bits: the random bits of the position. All actions are equally promising.
  /** @type {(position: Position, bits: bigint) => {value: number, logits: number[]}} */
  evaluation(position, bits) {
    let total = 0;
    for (let number = 0; number < this.rollouts; number += 1) {
      total += this.#result(position, fold(bits, number));
    }
    return { value: total / this.rollouts, logits: this.logits };
  }

  /** @type {(position: Position, ofMatch: bigint) => number} */
  #result(position, ofMatch) {
    for (let ply = 0, sign = 1; ; ply += 1) {
      const legal = rules.legalActions(position);
      if (legal === 0n && rules.isTerminal(position) !== 0n) {
        return sign * this.game.valueAtEnd(position) + 0;
      }
      const actions = this.game.actions(position, legal);
      position = this.game.play(position, actions[below(fold(ofMatch, ply), actions.length)]);
      sign = this.game.turned(position, sign);
    }
  }
}

/** @implements {Evaluator} */
class Mixed {
  /**
   * @param {Evaluator} agent
   * @param {Rollouts} rollouts
   * @param {number} share
   */
  constructor(agent, rollouts, share) {
    this.agent = agent;
    this.rollouts = rollouts;
    this.share = share;
  }

  /** @type {(position: Position, bits: bigint) => {value: number, logits: number[]}} */
  evaluation(position, bits) {
    const { value, logits } = this.agent.evaluation(position, bits);
    return { value: (1 - this.share) * value + this.share * this.rollouts.evaluation(position, bits).value, logits };
  }
}

// What evaluates positions in the tree search of a player.
/** @type {(way: Evaluating, game: import("./game.js").Game, agent: Evaluator) => Evaluator} */
export function evaluatorOf({ evaluation, rollout_share: share, rollouts }, game, agent) {
  const matches = new Rollouts(game, rollouts);
  return evaluation === "rollouts" ? matches : share > 0 ? new Mixed(agent, matches, share) : agent;
}
