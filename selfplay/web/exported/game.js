// A game: states, and the values of actions by the values of positions, as selfplay/games and players/value_net.py.
//
// A state is {position, player, isOver, result}: the fields of the position seen by the player to move, its seat, and the
// result to seat 0 of a match that is over.

import * as rules from "./rules.js";

// The numbers of the set bits of a word, ascending.
/** @type {(word: bigint) => number[]} */
export function bitsOf(word) {
  const bits = [];
  for (let rest = word < 0n ? BigInt.asUintN(64, word) : word, first = 0; rest !== 0n; rest >>= 32n, first += 32) {
    let half = Number(rest & 0xffffffffn);
    while (half !== 0) {
      bits.push(first + 31 - Math.clz32(half & -half));
      half = (half & (half - 1)) >>> 0;
    }
  }
  return bits;
}

// The word of the squares with this stone.
/** @type {(squares: number[], stone: number) => bigint} */
const wordOf = (squares, stone) => squares.reduce((word, one, square) => (one === stone ? word | (1n << BigInt(square)) : word), 0n);

// From a position to the first entries of its observation, seen by the player who is not to move: each is a bit of
// what is shown of the position, or a number of it divided by its limit.
/** @type {(description: Pick<Description, "shown" | "limits">, size: number) => (position: Position) => number[]} */
export function observer({ shown, limits }, size) {
  const lowest = shown.slice(0, size);
  const widths = limits.map((limit) => BigInt(limit).toString(2).length);
  return (position) => {
    const packed = rules.packedShown(position);
    const bits = new Set(bitsOf(packed));
    return lowest.map((bit, entry) =>
      limits[entry] === 1 ? Number(bits.has(bit)) : Math.fround(Number(BigInt.asUintN(widths[entry], packed >> BigInt(bit))) / limits[entry]),
    );
  };
}

// What a rule gives for a number, which may be negative.
/** @type {(value: bigint) => number} */
export const numberOf = (value) => Number(BigInt.asIntN(64, value));

export class Game {
  /**
   * @param {Pick<Description, "initial" | "set_up" | "pass_action" | "num_actions" | "num_squares" | "has_stones" | "shown" | "limits" | "mark_fields" | "number_fields" | "ends">} description
   */
  constructor({ initial, set_up: setUp, pass_action: passAction, num_actions: numActions, num_squares: numSquares, has_stones: hasStones, shown, limits, mark_fields: markFields, number_fields: numberFields, ends }) {
    this.rules = rules;
    this.passAction = passAction;
    this.numActions = numActions;
    this.numSquares = numSquares;
    this.hasStones = hasStones;
    this.ends = ends;
    this.markFields = markFields;
    this.numberFields = numberFields;
    this.initial = rules.unpacked(BigInt(initial));
    this.emptied = setUp.map((position) => rules.unpacked(BigInt(position)));
    this.stones = observer({ shown, limits }, 2 * numSquares);
  }

  start() {
    return this.#state(this.initial, 0);
  }

  // A board with these stones, seen by a seat that is to move, as set_up in selfplay/games/game.py.
  /** @type {(squares: number[], player: number) => GameState} */
  setUp(squares, player) {
    const [own, opp] = [1, -1].map((sign) => wordOf(squares, player === 0 ? sign : -sign));
    return this.#state({ ...this.emptied[player], own, opp }, player);
  }

  // A match that is over, whose result is that without the stones on these squares.
  /** @type {(state: GameState, dead: number[]) => GameState} */
  without({ position, player }, dead) {
    const kept = ~dead.reduce((word, square) => word | (1n << BigInt(square)), 0n);
    return this.#state({ ...position, own: position.own & kept, opp: position.opp & kept }, player);
  }

  // The squares of stones that cannot be captured even if their player always passes; null where stones cannot be dead.
  /** @type {(state: GameState) => Set<number> | null} */
  safe({ position }) {
    return rules.safe === undefined ? null : new Set(rules.safe(position).flatMap(bitsOf));
  }

  // The value of a finished position to the player to move.
  /** @type {(position: Position) => number} */
  valueAtEnd(position) {
    const lead = this.ends.point === 0 ? 0 : numberOf(rules.margin(position));
    return this.ends.win * numberOf(rules.returnToMove(position)) + this.ends.point * lead;
  }

  /** @type {(position: Position, player: number) => GameState} */
  #state(position, player) {
    const isOver = rules.legalActions(position) === 0n && rules.isTerminal(position) !== 0n;
    const result = isOver ? numberOf(rules.returnToMove(position)) * (player === 0 ? 1 : -1) : 0;
    return { position, player, isOver, result };
  }

  // The legal actions of a match that is not over.
  /** @type {(position: Position, legal?: bigint) => number[]} */
  actions(position, legal = rules.legalActions(position)) {
    const actions = bitsOf(legal);
    return actions.length === 0 && this.passAction !== null ? [this.passAction] : actions;
  }

  /** @type {(state: GameState) => number[]} */
  legal = ({ position, isOver }) => (isOver ? [] : this.actions(position));

  // Those of the legal actions that people would consider.
  /** @type {(state: GameState) => number[]} */
  sensible(state) {
    const legal = this.legal(state);
    const found = rules.sensible === undefined ? legal : bitsOf(rules.sensible(state.position)).filter((action) => legal.includes(action));
    return found.length > 0 ? found : legal;
  }

  /** @type {(position: Position, action: number) => Position} */
  play = (position, action) => rules.play(position, BigInt(action));

  // Whether the player to move has also made the last move.
  /** @type {(position: Position) => boolean} */
  movesAgain = (position) => rules.movesAgain !== undefined && rules.movesAgain(position) !== 0n;

  // The value of a position to the player who made the last move, from that to the player to move, and the other way round.
  /** @type {(position: Position, value: number) => number} */
  turned = (position, value) => (this.movesAgain(position) ? value : -value);

  /** @type {(state: GameState, action: number) => GameState} */
  step({ position, player }, action) {
    const after = this.play(position, action);
    return this.#state(after, this.movesAgain(after) ? player : 1 - player);
  }

  // 1 for a stone of seat 0, -1 for one of seat 1, 0 for an empty square.
  /** @type {(state: GameState) => number[]} */
  squares({ position, player }) {
    if (!this.hasStones) {
      return new Array(this.numSquares).fill(0);
    }
    const seen = this.stones(position);
    const sign = player === 0 ? 1 : -1;
    return seen.slice(this.numSquares).map((toMove, square) => sign * (toMove - seen[square]) + 0);
  }

  // Which of the marks each square has: 2**k for number k, from 0 in their order.
  /** @type {(state: GameState) => number[]} */
  marks({ position }) {
    const marks = new Array(this.numSquares).fill(0);
    this.markFields.forEach((name, number) => bitsOf(position[name]).forEach((square) => (marks[square] += 2 ** number)));
    return marks;
  }

  // The numbers of a position as text.
  /** @type {(state: GameState) => string} */
  numbers({ position }) {
    return this.numberFields.map((name) => `${name.replaceAll("_", " ")} ${[position[name]].flat().join(" ")}`).join(", ");
  }

  // Different numbers for squares with different stones or marks, 0 for those with neither.
  /** @type {(state: GameState) => number[]} */
  contents(state) {
    const marks = this.marks(state);
    return this.squares(state).map((stone, square) => stone + 3 * marks[square]);
  }

  // 1 for a square that counts for seat 0 at the end, -1 for seat 1, 0 for neither; null in games in which squares do not count.
  /** @type {(state: GameState) => number[] | null} */
  owners({ position, player }) {
    if (rules.owned === undefined) {
      return null;
    }
    const owned = rules.owned(position).map((word) => new Set(bitsOf(word)));
    const [first, second] = player === 0 ? owned : owned.toReversed();
    return [...Array(this.numSquares).keys()].map((square) => Number(first.has(square)) - Number(second.has(square)));
  }

  // The points of both seats, without komi; null if the rules do not say them.
  /** @type {(state: GameState, unit: number) => number[] | null} */
  points({ position, player }, unit) {
    if (rules.points === undefined) {
      return null;
    }
    const points = rules.points(position).map((value) => numberOf(value) * unit);
    return player === 0 ? points : points.toReversed();
  }

  // By how many points seat 0 leads as the board stands; null in games in which no points count.
  /** @type {(state: GameState, unit: number) => number | null} */
  lead({ position, player }, unit) {
    return rules.margin === undefined ? null : numberOf(rules.margin(position)) * unit * (player === 0 ? 1 : -1) + 0;
  }

  // By action: the value of the position after it to the player who takes it; NaN where illegal.
  /** @type {(state: GameState, agent: Evaluation) => number[]} */
  actionValues(state, agent) {
    const values = new Array(this.numActions).fill(NaN);
    for (const action of this.legal(state)) {
      const { position, isOver } = this.step(state, action);
      values[action] = Math.fround(this.turned(position, isOver ? this.valueAtEnd(position) : -agent.value(position))) + 0;
    }
    return values;
  }
}

// The lowest of the actions with the largest value.
/** @type {(values: number[]) => number} */
export const bestOf = (values) => values.reduce((best, value, action) => (value > (values[best] ?? -Infinity) ? action : best), -1);

const LESS = 1e-7;

// The values, where those of all others are below that of the best action, because they are less certain.
/** @type {(values: number[], best: number) => number[]} */
export const belowBest = (values, best) => values.map((value, action) => (action === best ? value : Math.min(value, values[best] - LESS)));
