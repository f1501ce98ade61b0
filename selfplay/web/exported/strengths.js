// Easy, Medium and Hard: searches of fixed depth or with a fixed number of simulations, as
// selfplay/named_players/strengths.py names them.

import { Game, numberOf } from "./game.js";
import { EXPLORE, LEAF, pick, RANDOM_ACTION, SAMPLED_ACTION, TIE_BREAK, uniform } from "./random.js";
import { Rollouts } from "./rollouts.js";
import { searched } from "./search.js";
import { treeSearched } from "./tree_search.js";

// The actions whose value is at most slack below the largest, but only the best if that is a win or a loss.
/** @type {(values: number[], slack: number, win: number) => number[]} */
export function nearlyBest(values, slack, win) {
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)));
  const least = most - (win > 0 && Math.abs(most) >= win ? 0 : slack);
  return [...values.keys()].filter((action) => values[action] >= least);
}

// Alpha-beta.
export class Strength {
  // evaluation: agent, none (only the end of a match counts) or points. ends: of the last two, as those of a game.
  /**
   * @param {Strong} way
   * @param {Description} description
   * @param {Game} game
   * @param {Evaluation} agent
   */
  constructor({ evaluation, ends, depth, slack, epsilon }, description, game, agent) {
    const evaluators = { agent, none: { value: () => 0 }, points: { value: (/** @type {Position} */ position) => -numberOf(game.rules.margin(position)) } };
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
    const explores = uniform(draws(EXPLORE)) < this.epsilon;
    return explores ? pick(this.game.legal(state), draws(RANDOM_ACTION)) : pick(this.candidates(state), draws(TIE_BREAK));
  }
}

// Tree search, by the agent or by random matches, whose results are 1, 0 and -1.
export class TreeStrength {
  /**
   * @param {StrongTree} way
   * @param {Description} description
   * @param {Game} game
   * @param {Evaluator} agent
   */
  constructor({ evaluation, rule, simulations, temperature }, description, game, agent) {
    this.game = evaluation === "agent" ? game : new Game({ ...description, ends: { win: 1, point: 0 } });
    this.evaluator = evaluation === "agent" ? agent : new Rollouts(this.game);
    this.rule = rule;
    this.simulations = simulations;
    this.temperature = temperature;
  }

  /** @type {(state: GameState, draws: Draws) => TreeSearched} */
  searched(state, draws) {
    return treeSearched(this.game, this.evaluator, this.rule, state, { simulations: this.simulations, bits: draws(LEAF) });
  }

  // Above temperature 0, an action is drawn with probability proportional to weight ** (1 / temperature).
  /** @type {(state: GameState, draws: Draws) => number} */
  act(state, draws) {
    const { action, weights } = this.searched(state, draws);
    if (this.temperature === 0) {
      return action;
    }
    const most = Math.max(...weights);
    const shares = weights.map((weight) => (weight / most) ** (1 / this.temperature));
    let rest = uniform(draws(SAMPLED_ACTION)) * shares.reduce((sum, share) => sum + share);
    const drawn = shares.findIndex((share) => share > 0 && (rest -= share) < 0);
    // Not found only if the sums are rounded.
    return drawn === -1 ? action : drawn;
  }
}
