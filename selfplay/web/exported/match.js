// A match in which players move and value moves, and the parts of an answer about it (selfplay/web/requested_match.py).

import { bestOf } from "./game.js";
import { drawsOf } from "./random.js";
import { dataOf, judgedView, namesOf, PERFECT_PLAY, placedSquare, pointedSquares } from "./data.js";
import { PlayedMatch, Refusal } from "./played_match.js";

const LONGEST_LINE = 10;
const [LINE_MILLISECONDS, VALUES_MILLISECONDS] = [1500, 2000];
const MOST_CONSIDERED = 5000;
const CONFLICT = 409;

// What players have found, by player, seed, position and ply, so that a position is not considered twice. The oldest is dropped.
/** @type {Map<string, Found>} */
const considered = new Map();

export class Match extends PlayedMatch {
  /**
   * @param {Description} description
   * @param {import("./game.js").Game} game
   * @param {Participants} players
   * @param {MatchRequest} request
   */
  constructor(description, game, players, request) {
    super(description, game, players, request);
    this.adviser = players.adviser;
    this.judge = players.judge;
    this.isValued = (request.valued ?? null) !== null;
  }

  // Until a person has to choose or the match is over; one move in a match without people.
  advance() {
    while (!this.state.isOver && !this.awaitsPerson) {
      if (!this.passIfForced()) {
        const player = this.seats[this.state.player] ?? this.opponent;
        this.take(this.#consider(player, this.plies.length).action, false);
        if (this.people === "none") {
          return;
        }
      }
    }
  }

  // ---------------------------------------------------------------------- values

  // Values the plies from this number on, at least one of them, for about VALUES_MILLISECONDS.
  /** @type {(first: number) => void} */
  valuePlies(first) {
    const latest = performance.now() + VALUES_MILLISECONDS;
    for (let number = first; number < this.plies.length && (number === first || performance.now() < latest); number += 1) {
      if (!this.plies[number].is_forced) {
        this.estimate(number);
      }
    }
  }

  // Who values the actions of a seat.
  /** @type {(seat: number) => Participant} */
  adviserOf(seat) {
    const players = [this.opponent, ...this.seats.filter((one) => one !== null)];
    const isEstimated = players.every(({ offer }) => offer.estimates);
    return this.adviser ?? (isEstimated ? (this.seats[seat] ?? this.seats[1 - seat] ?? this.opponent) : this.judge);
  }

  /** @type {(player: Participant, state: GameState, number: number) => string} */
  #key(player, { position, player: seat }, number) {
    return [player.offer.id, this.seed, ...Object.values(position), seat, number].join(" ");
  }

  // What a player finds in the position before a ply.
  /** @type {(player: Participant, number: number) => Found} */
  #consider(player, number) {
    return this.#considerAt(player, this.states[number], number);
  }

  /** @type {(player: Participant, state: GameState, number: number) => Found} */
  #considerAt(player, state, number) {
    const key = this.#key(player, state, number);
    const found = considered.get(key) ?? player.consider(state, drawsOf(BigInt(this.description.key), this.seed, number));
    considered.set(key, found);
    if (considered.size > MOST_CONSIDERED) {
      const [oldest] = considered.keys();
      considered.delete(oldest);
    }
    return found;
  }

  // The adviser's values before a ply, in points if the agent values points.
  /** @type {(number: number) => Estimate | null} */
  estimate(number) {
    return this.states[number].isOver ? null : this.#inUnits(this.#consider(this.adviserOf(this.states[number].player), number));
  }

  // What the adviser found before a ply, if it was asked.
  /** @type {(number: number) => Estimate | null} */
  known(number) {
    const found = considered.get(this.#key(this.adviserOf(this.states[number].player), this.states[number], number));
    return found === undefined ? null : this.#inUnits(found);
  }

  /** @type {(found: Found) => Estimate | null} */
  #inUnits({ values, isExact = false, proved = values?.map(() => isExact) ?? [] }) {
    const points = this.description.points_per_value;
    // Exact values that are not points are results; a search prefers the sooner of two wins.
    /** @type {(value: number, action: number) => number} */
    const unit = (value, action) => (points !== null ? value * points : proved[action] ? Math.sign(value) : value);
    return values && { values: values.map(unit), isExact, proved };
  }

  // The judge's values before a ply. If its search divides its time among actions, only that of the match and the best one have
  // values, by searches of the positions after them. If only one of both is proved, the position after the other is searched.
  /** @type {(number: number) => Estimate | null} */
  judgement(number) {
    if (this.states[number]?.isOver !== false) {
      return null;
    }
    const found = this.#consider(this.judge, number);
    const estimate = this.#inUnits(found);
    if (estimate === null) {
      return null;
    }
    const best = found.isUneven ? found.action : bestOf(estimate.values);
    const compared = [best, this.plies[number]?.action ?? best];
    const isMixed = compared.some((action) => estimate.proved[action] !== estimate.proved[best]);
    const values = found.isUneven ? estimate.values.map((value, action) => (compared.includes(action) ? value : NaN)) : estimate.values.slice();
    const proved = estimate.proved.slice();
    for (const action of new Set(compared)) {
      const after = (found.isUneven || isMixed) && !proved[action] ? this.#valueAfter(number, action) : null;
      if (after !== null && (found.isUneven || after.isProved)) {
        [values[action], proved[action]] = [after.value, after.isProved];
      }
    }
    return { ...estimate, values, proved };
  }

  // The value of an action by the judge's search of the position after it; null if the match is over there.
  /** @type {(number: number, action: number) => {value: number, isProved: boolean} | null} */
  #valueAfter(number, action) {
    const before = this.states[number];
    const isNext = this.plies[number]?.action === action;
    const after = isNext ? this.states[number + 1] : this.game.step(before, action);
    if (after.isOver) {
      return null;
    }
    const found = this.#considerAt(this.judge, after, number + 1);
    const { values = [], proved = [] } = this.#inUnits(found) ?? {};
    const value = values[found.action] ?? NaN;
    // A draw is proved only if all moves are.
    const isProved = proved[found.action] && (value > 0 || this.game.legal(after).every((one) => proved[one]));
    return Number.isNaN(value) ? null : { value: after.player === before.player ? value : -value, isProved };
  }

  // ---------------------------------------------------------------------- the parts of an answer

  /** @type {(ply: number | null) => ServedMatch} */
  view = (ply) => dataOf(this, this.number(ply));

  /** @type {(ply: number | null) => JudgedView} */
  judged = (ply) => judgedView(this, this.number(ply));

  // The best action that is known before a ply.
  /** @type {(ply: number | null) => HintView} */
  hint(ply) {
    const number = this.number(ply);
    const judged = this.judgement(number);
    if (judged === null) {
      throw new Refusal(CONFLICT, "the match is over");
    }
    const state = this.states[number];
    const { values } = judged;
    const action = bestOf(values);
    const { kind, legal, source } = judgedView(this, number);
    const line = this.#line(state, action);
    const { words = null, name = "" } = legal.find((one) => one.action === action) ?? {};
    return {
      action,
      text: this.description.words[action] ?? name,
      value: values[action],
      words,
      in_points: kind === "points",
      source: words === null ? source : PERFECT_PLAY,
      line: line.map(({ text }) => text),
      line_names: line.map(({ text, name: one }) => one ?? text),
      line_squares: line.map(({ squares }) => squares),
    };
  }

  // An action and those that follow if both players take the best action by the values of the judge.
  /** @type {(state: GameState, action: number) => {text: string, name: string | undefined, squares: number[]}[]} */
  #line(state, action) {
    const moves = [];
    const latest = performance.now() + LINE_MILLISECONDS;
    for (let next = action; ; ) {
      const after = this.game.step(state, next);
      moves.push({ text: this.description.texts[state.player][next], name: namesOf(this, state).get(next), squares: this.#squaresOf(state, after, next) });
      state = after;
      if (moves.length === LONGEST_LINE || performance.now() > latest || state.isOver) {
        return moves;
      }
      next = bestOf(this.judge.consider(state, () => 0n).values ?? []);
    }
  }

  // The square on which an action puts a stone or a mark, after that which a stone leaves.
  /** @type {(before: GameState, after: GameState, action: number) => number[]} */
  #squaresOf(before, after, action) {
    const [old, now] = [before, after].map((state) => this.game.contents(state));
    const pointed = pointedSquares(this, before.player, old, now, action);
    const placed = placedSquare(pointed, old, now);
    const isMove = this.description.view.moves_stones && pointed.length === 2 && placed !== null;
    return [...pointed.filter((square) => isMove && square !== placed), ...(placed === null ? pointed.slice(0, 1) : [placed])];
  }

  // Moves alone say only the result besides.
  record() {
    const { said, description, state } = this;
    const words = said === 0 ? "drawn" : `${description.view.seat_names[said !== null && said < 0 ? 1 : 0]} wins`;
    const isKnown = said === null || (state.isOver && !this.isBeingCounted && Math.sign(state.result) === said);
    return { players: ["", ""], result: isKnown ? null : words, comments: {}, variations: 0, broken: this.broken };
  }

  file() {
    const { isEnded = false, isOver, result } = this.state;
    // The result of the text counts until another move is made, unless the rules end the match with the same one.
    const said = this.state === this.read && !(isOver && (this.game.safe(this.state) === null || Math.sign(result) === this.said)) ? this.said : null;
    const returned = isEnded ? result : said;
    const end = returned === null ? "" : ` ${returned === 0 ? "1/2-1/2" : returned > 0 ? "1-0" : "0-1"}`;
    return { name: `${this.description.view.name}.txt`, text: `${this.written()}${end}\n` };
  }
}
