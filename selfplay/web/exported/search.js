// Alpha-beta search of a position, one ply deeper at a time, until the time is over or the depth is reached.

/** @typedef {import("./game.js").Game} Game */

// The preference for the sooner of two wins, for each ply. In games that count points it is not used.
const SOONER = 1e-7;
// Equal values differ at most by this.
const ROUNDED = 1e-6;
const OUT_OF_TIME = Symbol("out of time");

// values: by action, its value to the player to move, by the deepest search that was finished; NaN where illegal. Only these
// actions are searched, and a value that is more than slack below the best of them is an upper bound. isExact: whether this
// search reached the end of the match in all lines that matter.
/** @type {(game: Game, agent: Evaluation, state: GameState, limits: {seconds?: number, depth?: number, slack?: number, actions?: number[]}) => {values: number[], isExact: boolean}} */
export function searched(game, agent, state, { seconds = Infinity, depth: deepest = Infinity, slack = Infinity, actions = game.legal(state) }) {
  const search = new Search(game, agent, performance.now() + 1000 * seconds);
  let values = game.actionValues(state, agent);
  search.isOpen = actions.some((action) => !game.step(state, action).isOver);
  for (let depth = 2; search.isOpen && depth <= deepest; depth += 1) {
    try {
      search.isOpen = false;
      const deeper = values.slice();
      let best = -Infinity;
      for (const action of actions.toSorted((one, other) => values[other] - values[one])) {
        deeper[action] = search.valueOfMove(game.play(state.position, action), depth - 1, best - slack - ROUNDED, Infinity) + 0;
        best = Math.max(best, deeper[action]);
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
   * @param {Evaluation} agent
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
  /** @type {(position: Position, depth: number, alpha: number, beta: number) => number} */
  value(position, depth, alpha, beta) {
    const { rules } = this.game;
    const legal = rules.legalActions(position);
    if (legal === 0n && rules.isTerminal(position) !== 0n) {
      return this.game.valueAtEnd(position) * (1 + depth * this.sooner);
    }
    if (depth === 0) {
      this.isOpen = true;
      return -this.agent.value(position);
    }
    if (performance.now() > this.latest) {
      throw OUT_OF_TIME;
    }
    let best = -Infinity;
    for (const after of this.#children(position, legal, depth)) {
      best = Math.max(best, this.valueOfMove(after, depth - 1, Math.max(alpha, best), beta));
      if (best >= beta) {
        break;
      }
    }
    return best;
  }

  // The same of the position after a move, to the player who made it.
  /** @type {(after: Position, depth: number, alpha: number, beta: number) => number} */
  valueOfMove(after, depth, alpha, beta) {
    return this.game.movesAgain(after) ? this.value(after, depth, alpha, beta) : -this.value(after, depth, -beta, -alpha);
  }

  // The positions that follow, the most promising first.
  /** @type {(position: Position, legal: bigint, depth: number) => Position[]} */
  #children(position, legal, depth) {
    const children = this.game.actions(position, legal).map((action) => this.game.play(position, action));
    if (depth > 1 && children.length > 1) {
      const values = new Map(children.map((child) => [child, this.game.turned(child, -this.agent.value(child))]));
      children.sort((one, other) => Number(values.get(other)) - Number(values.get(one)));
    }
    return children;
  }
}
