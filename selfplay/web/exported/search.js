// Alpha-beta search of a position, one ply deeper at a time, until the time is over or the depth is reached.

import { bitsOf } from "./game.js";

/** @typedef {import("./game.js").Game} Game */

// The preference for the sooner of two wins, for each ply. In games that count points it is not used.
const SOONER = 1e-7;
const OUT_OF_TIME = Symbol("out of time");

// values: by action, its value to the player to move, by the deepest search that was finished; NaN where illegal. isExact:
// whether this search reached the end of the match in all lines that matter.
/** @type {(game: Game, agent: Evaluator, state: GameState, limits: {seconds?: number, depth?: number}) => {values: number[], isExact: boolean}} */
export function searched(game, agent, state, { seconds = Infinity, depth: deepest = Infinity }) {
  const search = new Search(game, agent, performance.now() + 1000 * seconds);
  let values = game.actionValues(state, agent);
  const actions = game.legal(state);
  search.isOpen = actions.some((action) => !game.step(state, action).isOver);
  for (let depth = 2; search.isOpen && depth <= deepest; depth += 1) {
    try {
      search.isOpen = false;
      const deeper = values.slice();
      actions.sort((one, other) => values[other] - values[one]);
      for (const action of actions) {
        deeper[action] = -search.value(...game.rules.play(state.own, state.opp, game.move(action)), depth - 1, -Infinity, Infinity) + 0;
      }
      values = deeper;
    } catch (error) {
      if (error !== OUT_OF_TIME) {
        throw error;
      }
      return { values, isExact: false };
    }
  }
  return { values, isExact: !search.isOpen };
}

class Search {
  /**
   * @param {Game} game
   * @param {Evaluator} agent
   * @param {number} latest
   */
  constructor(game, agent, latest) {
    this.game = game;
    this.agent = agent;
    this.latest = latest;
    this.isOpen = true;
    this.sooner = game.ends.point === 0 ? SOONER : 0;
  }

  // The value of a position to the player to move: an upper bound if it is at most alpha, a lower one from beta on.
  /** @type {(own: bigint, opp: bigint, depth: number, alpha: number, beta: number) => number} */
  value(own, opp, depth, alpha, beta) {
    const { rules } = this.game;
    const legal = rules.legalActions(own, opp);
    if (legal === 0n && rules.isTerminal(own, opp) !== 0n) {
      return this.game.valueAtEnd(own, opp) * (1 + depth * this.sooner);
    }
    if (depth === 0) {
      this.isOpen = true;
      return -this.agent.value(own, opp);
    }
    if (performance.now() > this.latest) {
      throw OUT_OF_TIME;
    }
    let best = -Infinity;
    for (const [mine, other] of this.#children(own, opp, legal, depth)) {
      best = Math.max(best, -this.value(mine, other, depth - 1, -beta, -Math.max(alpha, best)));
      if (best >= beta) {
        break;
      }
    }
    return best;
  }

  // The positions that follow, the most promising first.
  /** @type {(own: bigint, opp: bigint, legal: bigint, depth: number) => [bigint, bigint][]} */
  #children(own, opp, legal, depth) {
    const { rules } = this.game;
    if (legal === 0n) {
      return [rules.play(own, opp, 0n)];
    }
    const children = bitsOf(legal).map((action) => rules.play(own, opp, this.game.move(action)));
    if (depth > 1) {
      const values = new Map(children.map((child) => [child, this.agent.value(...child)]));
      children.sort((one, other) => Number(values.get(other)) - Number(values.get(one)));
    }
    return children;
  }
}
