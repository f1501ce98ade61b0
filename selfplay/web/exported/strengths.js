// The strengths that people choose by, from Beginner to Strongest, as selfplay/named_players/strengths.py names them.

import { Game, numberOf } from "./game.js";
import { NOTICE, pick, LEAF, SAMPLED_ACTION, TIE_BREAK, uniform } from "./random.js";
import { evaluatorOf } from "./rollouts.js";
import { searched } from "./search.js";
import { treeSearched } from "./tree_search.js";

// As in selfplay/players/tempered.py.
const [FLOOR, SIGHT] = [3, 2];
const NO_VALUES = { value: () => 0 };

// The actions whose value is at most slack below the largest, but only the best if that is a win or a loss.
/** @type {(values: number[], slack: number, win: number) => number[]} */
export function nearlyBest(values, slack, win) {
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)));
  const least = most - (win > 0 && Math.abs(most) >= win ? 0 : slack);
  return [...values.keys()].filter((action) => values[action] >= least);
}

// Draws actions by scores, the better the more likely, as TemperedPlayer in selfplay/players/tempered.py.
export class Strength {
  /**
   * @param {Strong | StrongTree} way
   * @param {Description} description
   * @param {Game} game
   * @param {Evaluation & Evaluator} agent
   */
  constructor(way, description, game, agent) {
    this.game = game;
    this.onlyEnds = new Game({ ...description, ends: { win: 1, point: 0 } });
    this.temperature = way.temperature;
    this.notices = way.notices;
    this.source = way.kind === "strength" ? new AlphaBeta(way, description, game, agent) : new TreeSearch(way, this.onlyEnds, game, agent);
  }

  // draws: the random numbers of the ply.
  /** @type {(state: GameState, draws: Draws) => number} */
  act(state, draws) {
    if (this.temperature === null) {
      return pick(this.source.candidates(state, draws), draws(TIE_BREAK));
    }
    const seen = uniform(draws(NOTICE)) < this.notices;
    const allowed = seen ? this.#notLostAtOnce(state) : this.game.sensible(state);
    const weights = this.#weights(this.source.scores(state, draws, { slack: FLOOR * this.temperature, actions: allowed }), allowed);
    let rest = uniform(draws(SAMPLED_ACTION)) * weights.reduce((sum, weight) => sum + weight);
    const drawn = weights.findIndex((weight) => weight > 0 && (rest -= weight) < 0);
    // Not found only if the sums are rounded.
    return drawn === -1 ? weights.indexOf(1) : drawn;
  }

  // By action: how likely it is compared with the best.
  /** @type {(scores: number[], allowed: number[]) => number[]} */
  #weights(scores, allowed) {
    const most = Math.max(...allowed.map((action) => scores[action]));
    const weights = new Array(scores.length).fill(0);
    for (const action of allowed) {
      const above = (scores[action] - most) / /** @type {number} */ (this.temperature);
      weights[action] = above >= -FLOOR ? Math.exp(above) : 0;
    }
    return weights;
  }

  // The actions that win at once if there are any, or else those after which the other player cannot.
  /** @type {(state: GameState) => number[]} */
  #notLostAtOnce(state) {
    const allowed = this.game.sensible(state);
    const { values } = searched(this.onlyEnds, NO_VALUES, state, { depth: SIGHT });
    const best = Math.max(...allowed.map((action) => values[action]));
    return allowed.filter((action) => values[action] >= Math.min(best, 1) || (best < 1 && values[action] > -1));
  }
}

// The values of alpha-beta.
class AlphaBeta {
  // evaluation: agent, none (only the end of a match counts) or points. ends: of the last two, as those of a game.
  /**
   * @param {Strong} way
   * @param {Description} description
   * @param {Game} game
   * @param {Evaluation} agent
   */
  constructor({ evaluation, ends, depth, slack }, description, game, agent) {
    const evaluators = { agent, none: NO_VALUES, points: { value: (/** @type {Position} */ position) => -numberOf(game.rules.margin(position)) } };
    this.depth = depth;
    this.slack = slack;
    this.evaluator = evaluators[evaluation];
    this.game = evaluation === "agent" ? game : new Game({ ...description, ends });
  }

  // What is more than slack below the best of these actions may be less.
  /** @type {(state: GameState, draws: Draws, limits: {slack: number, actions?: number[]}) => number[]} */
  scores(state, _draws, limits) {
    return searched(this.game, this.evaluator, state, { ...limits, depth: this.depth }).values;
  }

  /** @type {(state: GameState, draws: Draws) => number[]} */
  candidates(state, draws) {
    return nearlyBest(this.scores(state, draws, { slack: this.slack }), this.slack, this.game.ends.win);
  }
}

// The logarithms of the simulations of tree search, by the agent or by random matches, whose results are 1, 0 and -1.
class TreeSearch {
  /**
   * @param {StrongTree} way
   * @param {Game} onlyEnds
   * @param {Game} game
   * @param {Evaluator} agent
   */
  constructor(way, onlyEnds, game, agent) {
    const { evaluation, rule, simulations } = way;
    this.game = evaluation === "agent" ? game : onlyEnds;
    this.evaluator = evaluatorOf(way, this.game, agent);
    this.rule = rule;
    this.simulations = simulations;
  }

  /** @type {(state: GameState, draws: Draws) => number[]} */
  scores(state, draws) {
    const limits = { simulations: this.simulations, bits: draws(LEAF) };
    const { visits, priors, action } = treeSearched(this.game, this.evaluator, this.rule, state, limits);
    const scores = visits.map((count, other) => Math.log(count + priors[other]));
    scores[action] = Math.max(...scores);
    return scores;
  }

  /** @type {(state: GameState, draws: Draws) => number[]} */
  candidates(state, draws) {
    return nearlyBest(this.scores(state, draws), 0, 0);
  }
}
