// Tree search with proved values, as selfplay/search/mcts: tree.py and simulations.py; by the rules of puct.py and rule.py.
//
// A node is {edges, value, isProved}, an edge {action, after, prior, value, visits, child, status}: one for each legal
// action, ascending, with the state after it. Values are to the player to move in the node, also those of its edges.

import { fold } from "./random.js";

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {{action: number, after: GameState, prior: number, value: number, visits: number, child: Node | null, status: number}} Edge
 * @typedef {{edges: Edge[], value: number, isProved: boolean}} Node
 */

const [OPEN, SETTLED, LOST] = [0, 1, 2];
const WON = 1;

// By action: its value (NaN where illegal or unknown), whether it is proved, its visits and its prior; and the action to play. Ends after the time or the number of simulations, or when the value of the position is proved. bits: random bits
// for evaluations that draw.
/** @type {(game: Game, evaluator: Evaluator, rule: Rule, state: GameState, limits: {seconds?: number, simulations?: number, bits?: bigint}) => TreeSearched} */
export function treeSearched(game, evaluator, rule, state, { seconds = Infinity, simulations = Infinity, bits = 0n }) {
  const latest = performance.now() + 1000 * seconds;
  const search = new TreeSearch(game, evaluator, rule, bits);
  const root = search.node(state);
  for (let count = 0; !root.isProved && count < simulations && (count === 0 || performance.now() < latest); count += 1) {
    search.simulate(root);
  }
  const values = new Array(game.numActions).fill(NaN);
  const proved = new Array(game.numActions).fill(false);
  const visits = new Array(game.numActions).fill(0);
  const priors = new Array(game.numActions).fill(0);
  const isPlayable = (/** @type {Edge} */ { status, value }) => (root.isProved ? status !== OPEN && value === root.value : status !== LOST);
  let [chosen, largest] = [-1, -Infinity];
  for (const edge of root.edges) {
    visits[edge.action] = edge.visits;
    priors[edge.action] = edge.prior;
    proved[edge.action] = edge.status !== OPEN;
    if (edge.visits > 0 || edge.status !== OPEN) {
      values[edge.action] = edge.value;
    }
    // Of equally visited actions, the value decides.
    const score = edge.visits + 0.25 * edge.value;
    if (isPlayable(edge) && score > largest) {
      [chosen, largest] = [edge.action, score];
    }
  }
  return { values, proved, visits, priors, action: chosen };
}

class TreeSearch {
  /**
   * @param {Game} game
   * @param {Evaluator} evaluator
   * @param {Rule} rule
   * @param {bigint} bits
   */
  constructor(game, evaluator, rule, bits) {
    this.game = game;
    this.evaluator = evaluator;
    this.rule = rule;
    this.bits = bits;
    this.size = 0;
  }

  // A node without visits: proved by the actions that end the match, or evaluated.
  /** @type {(state: GameState) => Node} */
  node(state) {
    const actions = this.game.legal(state);
    const edges = actions.map((action) => {
      /** @type {Edge} */
      const edge = { action, after: this.game.step(state, action), prior: 1 / actions.length, value: 0, visits: 0, child: null, status: OPEN };
      if (edge.after.isOver) {
        settle(edge, this.game.turned(edge.after.position, this.game.valueAtEnd(edge.after.position)));
      }
      return edge;
    });
    const node = { edges, value: 0, isProved: false };
    const bits = fold(this.bits, this.size);
    this.size += 1;
    proveByEdges(node);
    if (!node.isProved) {
      const { value, logits } = this.evaluator.evaluation(state.position, bits);
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
    const edge = this.rule.name === "uct" ? selectedByUct(node, this.rule) : selectedByPuct(node, this.rule);
    edge.visits += 1;
    if (edge.status !== OPEN) {
      return edge.value;
    }
    const isNew = edge.child === null;
    edge.child ??= this.node(edge.after);
    const result = this.game.turned(edge.after.position, isNew ? edge.child.value : this.simulate(edge.child));
    if (edge.child.isProved) {
      settle(edge, this.game.turned(edge.after.position, edge.child.value));
      proveByEdges(node);
      return edge.value;
    }
    edge.value += (result - edge.value) / edge.visits;
    return result;
  }
}

// The edge with the largest upper bound, the first of equal ones.
/** @type {(node: Node, constants: Puct) => Edge} */
function selectedByPuct({ edges, value }, { c_init: init, c_base: base, unvisited }) {
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

// The first edge that has not been visited, or else the one with the largest upper bound.
/** @type {(node: Node, constants: Uct) => Edge} */
function selectedByUct({ edges }, { c }) {
  const total = edges.reduce((sum, { visits }) => sum + visits, 0);
  const logTotal = Math.log(Math.max(total, 1));
  let [chosen, largest] = [edges[0], -Infinity];
  for (const edge of edges.filter(({ status }) => status !== LOST)) {
    if (edge.visits === 0) {
      return edge;
    }
    const score = edge.value + c * Math.sqrt(logTotal / edge.visits);
    if (score > largest) {
      [chosen, largest] = [edge, score];
    }
  }
  return chosen;
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
