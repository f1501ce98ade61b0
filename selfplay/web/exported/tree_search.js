// Tree search by the rule PUCT with proved values, as selfplay/search/mcts: puct.py, tree.py and simulations.py.
//
// A node is {edges, value, isProved}, an edge {action, after, prior, value, visits, child, status}: one for each legal
// action, ascending, with the state after it. Values are to the player to move in the node, also those of its edges.

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {{action: number, after: GameState, prior: number, value: number, visits: number, child: Node | null, status: number}} Edge
 * @typedef {{edges: Edge[], value: number, isProved: boolean}} Node
 */

const [OPEN, SETTLED, LOST] = [0, 1, 2];
const WON = 1;

// By action: its value (NaN where illegal or unknown) and its visits; and the action to play. Ends after the time or the
// number of simulations, or when the value of the position is proved.
/** @type {(game: Game, agent: PolicyAgent, state: GameState, limits: {seconds?: number, simulations?: number}) => {values: number[], visits: number[], action: number}} */
export function treeSearched(game, agent, state, { seconds = Infinity, simulations = Infinity }) {
  const latest = performance.now() + 1000 * seconds;
  const search = new TreeSearch(game, agent);
  const root = search.node(state);
  for (let count = 0; !root.isProved && count < simulations && (count === 0 || performance.now() < latest); count += 1) {
    search.simulate(root);
  }
  const values = new Array(game.numActions).fill(NaN);
  const visits = new Array(game.numActions).fill(0);
  let [chosen, largest] = [-1, -Infinity];
  for (const edge of root.edges) {
    visits[edge.action] = edge.visits;
    if (edge.visits > 0 || edge.status !== OPEN) {
      values[edge.action] = edge.value;
    }
    const isCandidate = root.isProved ? edge.status !== OPEN && edge.value === root.value : edge.status !== LOST;
    // Of equally visited actions, the value decides.
    const score = edge.visits + 0.25 * edge.value;
    if (isCandidate && score > largest) {
      [chosen, largest] = [edge.action, score];
    }
  }
  return { values, visits, action: chosen };
}

class TreeSearch {
  /**
   * @param {Game} game
   * @param {PolicyAgent} agent
   */
  constructor(game, agent) {
    this.game = game;
    this.agent = agent;
  }

  // A node without visits: proved by the actions that end the match, or evaluated.
  /** @type {(state: GameState) => Node} */
  node(state) {
    const edges = this.game.legal(state).map((action) => {
      /** @type {Edge} */
      const edge = { action, after: this.game.step(state, action), prior: 0, value: 0, visits: 0, child: null, status: OPEN };
      if (edge.after.isOver) {
        settle(edge, -this.game.valueAtEnd(edge.after.own, edge.after.opp));
      }
      return edge;
    });
    const node = { edges, value: 0, isProved: false };
    proveByEdges(node);
    if (!node.isProved) {
      const { value, logits } = this.agent.evaluation(state.own, state.opp);
      const largest = Math.max(...edges.map(({ action }) => logits[action]));
      edges.forEach((edge) => (edge.prior = Math.exp(logits[edge.action] - largest)));
      const total = edges.reduce((sum, { prior }) => sum + prior, 0);
      edges.forEach((edge) => (edge.prior /= total));
      node.value = value;
    }
    return node;
  }

  // Runs a simulation from a node that is not proved; returns its result to the player to move.
  /** @type {(node: Node) => number} */
  simulate(node) {
    const edge = this.#select(node);
    edge.visits += 1;
    if (edge.status !== OPEN) {
      return edge.value;
    }
    const isNew = edge.child === null;
    edge.child ??= this.node(edge.after);
    const result = -(isNew ? edge.child.value : this.simulate(edge.child));
    if (edge.child.isProved) {
      settle(edge, -edge.child.value);
      proveByEdges(node);
      return edge.value;
    }
    edge.value += (result - edge.value) / edge.visits;
    return result;
  }

  // The edge with the largest upper bound, the first of equal ones.
  /** @type {(node: Node) => Edge} */
  #select({ edges, value }) {
    const { c_init: init, c_base: base, unvisited } = this.agent.puct;
    const total = edges.reduce((sum, { visits }) => sum + visits, 1);
    const scale = (init + Math.log((1 + total + base) / base)) * Math.sqrt(total);
    let [chosen, largest] = [edges[0], -Infinity];
    for (const edge of edges) {
      const mean = edge.visits > 0 || edge.status !== OPEN ? edge.value : value - unvisited;
      const score = mean + (scale * edge.prior) / (1 + edge.visits);
      if (edge.status !== LOST && score > largest) {
        [chosen, largest] = [edge, score];
      }
    }
    return chosen;
  }
}

// Gives an edge its exact value.
/** @type {(edge: Edge, value: number) => void} */
function settle(edge, value) {
  edge.value = value + 0;
  edge.status = value <= -WON ? LOST : SETTLED;
}

// Proves the value of a node if its settled edges do.
/** @type {(node: Node) => void} */
function proveByEdges(node) {
  const best = Math.max(...node.edges.filter(({ status }) => status !== OPEN).map(({ value }) => value));
  if (best >= WON || node.edges.every(({ status }) => status !== OPEN)) {
    Object.assign(node, { value: best, isProved: true });
  }
}
