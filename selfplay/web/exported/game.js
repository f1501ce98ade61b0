// A game: states, and the values of actions by the values of positions, as selfplay/games and players/value_net.py.
//
// A state is {own, opp, player, isOver, result}: the two words seen by the player to move, its seat, and the result to seat
// 0 of a match that is over.

import * as rules from "./rules.js";

const PASS = 0n;

// The numbers of the set bits of a word, ascending.
/** @type {(word: bigint) => number[]} */
export function bitsOf(word) {
  const bits = [];
  for (let half = 0; half < rules.wordBits / 32; half += 1) {
    let rest = Number(BigInt.asUintN(32, word >> BigInt(32 * half)));
    while (rest !== 0) {
      bits.push(32 * half + 31 - Math.clz32(rest & -rest));
      rest = (rest & (rest - 1)) >>> 0;
    }
  }
  return bits;
}

// What a rule gives for a number, which may be negative.
/** @type {(value: bigint) => number} */
export const numberOf = (value) => Number(BigInt.asIntN(64, value));

export class Game {
  /**
   * @param {Pick<Description, "initial" | "pass_action" | "num_actions" | "num_squares" | "ends">} description
   */
  constructor({ initial, pass_action: passAction, num_actions: numActions, num_squares: numSquares, ends }) {
    this.rules = rules;
    this.passAction = passAction;
    this.numActions = numActions;
    this.numSquares = numSquares;
    this.ends = ends;
    this.initial = initial.map((word) => BigInt.asUintN(rules.wordBits, BigInt(word)));
    this.entries = [...Array(2 * numSquares).keys()].map(BigInt);
  }

  start() {
    const [own, opp] = this.initial;
    return this.#state(own, opp, 0);
  }

  // The value of a finished position to the player to move.
  /** @type {(own: bigint, opp: bigint) => number} */
  valueAtEnd(own, opp) {
    const lead = this.ends.point === 0 ? 0 : numberOf(rules.margin(own, opp));
    return this.ends.win * numberOf(rules.returnToMove(own, opp)) + this.ends.point * lead;
  }

  /** @type {(own: bigint, opp: bigint, player: number) => GameState} */
  #state(own, opp, player) {
    const isOver = rules.legalActions(own, opp) === 0n && rules.isTerminal(own, opp) !== 0n;
    const result = isOver ? numberOf(rules.returnToMove(own, opp)) * (player === 0 ? 1 : -1) : 0;
    return { own, opp, player, isOver, result };
  }

  /** @type {(state: GameState) => number[]} */
  legal({ own, opp, isOver }) {
    if (isOver) {
      return [];
    }
    const actions = bitsOf(rules.legalActions(own, opp));
    return actions.length === 0 && this.passAction !== null ? [this.passAction] : actions;
  }

  /** @type {(action: number) => bigint} */
  move(action) {
    return action === this.passAction ? PASS : 1n << BigInt(action);
  }

  /** @type {(state: GameState, action: number) => GameState} */
  step({ own, opp, player }, action) {
    return this.#state(...rules.play(own, opp, this.move(action)), 1 - player);
  }

  // 1 for a stone of seat 0, -1 for one of seat 1, 0 for an empty square.
  /** @type {(state: GameState) => number[]} */
  squares({ own, opp, player }) {
    const seen = this.entries.map((entry) => Number(rules.observationEntry(own, opp, entry)));
    const sign = player === 0 ? 1 : -1;
    return seen.slice(this.numSquares).map((toMove, square) => sign * (toMove - seen[square]) + 0);
  }

  // 1 for a square that counts for seat 0 at the end, -1 for seat 1, 0 for neither; null in games in which squares do not count.
  /** @type {(state: GameState) => number[] | null} */
  owners({ own, opp, player }) {
    if (rules.owned === undefined) {
      return null;
    }
    const owned = [rules.owned(own, opp), rules.owned(opp, own)].map((word) => new Set(bitsOf(word)));
    const [first, second] = player === 0 ? owned : owned.toReversed();
    return [...Array(this.numSquares).keys()].map((square) => Number(first.has(square)) - Number(second.has(square)));
  }

  // The points of both seats, without komi; null if the rules do not say them.
  /** @type {(state: GameState, unit: number) => number[] | null} */
  points({ own, opp, player }, unit) {
    if (rules.points === undefined) {
      return null;
    }
    const points = [rules.points(own, opp), rules.points(opp, own)].map((value) => numberOf(value) * unit);
    return player === 0 ? points : points.toReversed();
  }

  // By how many points seat 0 leads; null in games in which no points count, or only squares at the end.
  /** @type {(state: GameState, unit: number) => number | null} */
  lead({ own, opp, player }, unit) {
    return rules.margin === undefined || rules.owned !== undefined ? null : numberOf(rules.margin(own, opp)) * unit * (player === 0 ? 1 : -1) + 0;
  }

  // By action: the value of the position after it to the player who takes it; NaN where illegal.
  /** @type {(state: GameState, agent: Evaluator) => number[]} */
  actionValues(state, agent) {
    const values = new Array(this.numActions).fill(NaN);
    for (const action of this.legal(state)) {
      const { own, opp, isOver } = this.step(state, action);
      values[action] = Math.fround(isOver ? -this.valueAtEnd(own, opp) : agent.value(own, opp)) + 0;
    }
    return values;
  }
}

// The lowest of the actions with the largest value.
/** @type {(values: number[]) => number} */
export const bestOf = (values) => values.reduce((best, value, action) => (value > (values[best] ?? -Infinity) ? action : best), -1);
