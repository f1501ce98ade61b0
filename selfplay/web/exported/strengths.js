// Easy, Medium and Hard: searches of fixed depth, as selfplay/named_players/strengths.py names them.

import { Game } from "./game.js";
import { EXPLORE, pick, RANDOM_ACTION, TIE_BREAK } from "./random.js";
import { searched } from "./search.js";

// The actions whose value is at most slack below the largest, but only the best if that is a win or a loss.
/** @type {(values: number[], slack: number, win: number) => number[]} */
export function nearlyBest(values, slack, win) {
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)));
  const least = most - (win > 0 && Math.abs(most) >= win ? 0 : slack);
  return [...values.keys()].filter((action) => values[action] >= least);
}

export class Strength {
  // evaluation: agent, none (only the end of a match counts) or discs. ends: of the last two, as those of a game.
  /**
   * @param {Strong} way
   * @param {Description} description
   * @param {Game} game
   * @param {Evaluator} agent
   */
  constructor({ evaluation, ends, depth, slack, epsilon }, description, game, agent) {
    const evaluators = { agent, none: { value: () => 0 }, discs: { value: (/** @type {bigint} */ own, /** @type {bigint} */ opp) => -Number(game.rules.margin(own, opp)) } };
    this.depth = depth;
    this.slack = slack;
    this.epsilon = epsilon;
    this.evaluator = evaluators[evaluation];
    this.game = evaluation === "agent" ? game : new Game({ ...description, ends });
  }

  // The actions of which it takes one.
  /** @type {(state: GameState) => number[]} */
  candidates(state) {
    const { values } = searched(this.game, this.evaluator, state, { depth: this.depth });
    return nearlyBest(values, this.slack, this.game.ends.win);
  }

  // draws: the random numbers of the ply.
  /** @type {(state: GameState, draws: Draws) => number} */
  act(state, draws) {
    const explores = draws(EXPLORE) < this.epsilon;
    return explores ? pick(this.game.legal(state), draws(RANDOM_ACTION)) : pick(this.candidates(state), draws(TIE_BREAK));
  }
}
