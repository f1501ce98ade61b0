// A match as a request describes it (selfplay/web/match.py): it is played again from its moves.

import { bestOf } from "./game.js";
import { drawsOf } from "./random.js";
import { dataOf, judgedView, PERFECT_PLAY, placedSquare } from "./data.js";
import { deadStones, expectedTerritory } from "./dead_stones.js";

/** @type {Record<string, number[]>} */
const SEATS = { first: [0], second: [1], both: [0, 1], none: [] };
const LONGEST_LINE = 10;
const [LINE_MILLISECONDS, VALUES_MILLISECONDS] = [1500, 2000];
const MOST_CONSIDERED = 5000;
const CONFLICT = 409;
const INVALID = 422;

// An error: the status and the sentence of the answer.
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @typedef {Pick<PlyData, "seat" | "action" | "text" | "by_person" | "is_forced">} Ply */

// What players have found, by player, seed, position and ply, so that a position is not considered twice. The oldest is dropped.
/** @type {Map<string, Found>} */
const considered = new Map();

export class Match {
  /**
   * @param {Description} description
   * @param {import("./game.js").Game} game
   * @param {Participants} players
   * @param {MatchRequest} request
   */
  constructor(description, game, players, { person = "first", seed = 0, moves = "", position = null, is_practice: isPractice = false, valued = null, dead = null, is_agreed: isAgreed = true, ended = null, show = [] }) {
    if (position !== null) {
      throw new Refusal(INVALID, "an exported page begins matches at the start only; selfplay web can set up positions");
    }
    this.description = description;
    this.game = game;
    this.opponent = players.opponent;
    this.partner = players.partner;
    this.adviser = players.adviser;
    this.judge = players.judge;
    this.people = person;
    this.seed = seed;
    this.isPractice = isPractice;
    this.isValued = valued !== null;
    /** @type {GameState[]} */
    this.states = [game.start()];
    /** @type {Ply[]} */
    this.plies = [];
    /** @type {string | null} */
    this.broken = null;
    try {
      this.#read(moves).forEach((action) => this.#follow(action));
    } catch (/** @type {any} */ error) {
      if (!show.includes("record") || this.plies.length === 0) {
        throw error;
      }
      this.broken = `move ${this.plies.length + 1}: ${error.message}`;
    }
    this.marked = dead ?? [];
    this.isBeingCounted = this.#isCountedByPeople && (dead === null || !isAgreed);
    if (dead !== null && isAgreed) {
      this.states.splice(-1, 1, this.counted);
    }
    if (ended !== null) {
      this.#end(ended);
    }
  }

  // Ends the match before its rules do: the only person, or the one to move, resigns, or both sides agree on a draw.
  /** @type {(how: "resigned" | "drawn") => void} */
  #end(how) {
    const { state, seats } = this;
    if (state.isOver || !seats.includes(null)) {
      throw new Refusal(CONFLICT, state.isOver ? "the match is over" : "no person plays");
    }
    const loser = seats.every((seat) => seat === null) ? state.player : seats.indexOf(null);
    this.states.splice(-1, 1, { ...state, isOver: true, isEnded: true, result: how === "drawn" ? 0 : loser === 0 ? -1 : 1 });
  }

  get state() {
    return this.states[this.states.length - 1];
  }

  // Who holds each seat; null for a person.
  get seats() {
    return [0, 1].map((seat) => (SEATS[this.people].includes(seat) ? null : seat === 0 && this.people === "none" ? (this.partner ?? this.opponent) : this.opponent));
  }

  /** @returns {boolean} */
  get canOnlyPass() {
    const legal = this.game.legal(this.state);
    return legal.length === 1 && legal[0] === this.game.passAction;
  }

  get awaitsPerson() {
    return !this.state.isOver && this.seats[this.state.player] === null && !this.canOnlyPass;
  }

  // ---------------------------------------------------------------------- playing

  // Until a person has to choose or the match is over; one move in a match without people.
  advance() {
    while (!this.state.isOver && !this.awaitsPerson) {
      if (!this.#passIfForced()) {
        const player = this.seats[this.state.player] ?? this.opponent;
        this.#take(this.#consider(player, this.plies.length).action, false);
        if (this.people === "none") {
          return;
        }
      }
    }
  }

  // An action of a transcript, which may leave out passes.
  /** @type {(action: number) => void} */
  #follow(action) {
    if (action !== this.game.passAction) {
      this.#passIfForced();
    }
    this.#take(action, this.canOnlyPass);
  }

  #passIfForced() {
    const { passAction } = this.game;
    if (passAction === null || !this.canOnlyPass) {
      return false;
    }
    this.#take(passAction, true);
    return true;
  }

  /** @type {(action: number, isForced: boolean) => void} */
  #take(action, isForced) {
    const { state } = this;
    const text = this.description.texts[state.player][action];
    if (!this.game.legal(state).includes(action)) {
      throw new Refusal(CONFLICT, state.isOver ? "the match is over after these moves" : `action ${text ?? action} is not legal here`);
    }
    this.states.push(this.game.step(state, action));
    this.plies.push({ seat: state.player, action, text, by_person: this.seats[state.player] === null, is_forced: isForced });
  }

  // ---------------------------------------------------------------------- dead stones

  // Whether both have passed in a match with people in which stones can be dead.
  get #isCountedByPeople() {
    const last = this.plies.slice(-2).filter(({ action }) => this.description.pointed[action].length === 0);
    return last.length === 2 && this.state.isOver && this.game.safe(this.state) !== null && this.people !== "none";
  }

  // The end without the stones that are marked as dead.
  get counted() {
    if (!this.#isCountedByPeople || this.marked.some((square) => !this.game.squares(this.state)[square])) {
      throw new Refusal(CONFLICT, "only stones on the board can be dead, where both players have passed");
    }
    return this.game.without(this.state, this.marked);
  }

  // The stones that are proposed as dead.
  dead() {
    if (!this.isBeingCounted) {
      throw new Refusal(CONFLICT, "stones can only be dead where both players have passed");
    }
    return deadStones(this.game, this.state, this.description);
  }

  // Who can be expected to own each square before a ply.
  /** @type {(ply: number | null) => number[]} */
  territory(ply) {
    const state = this.states[this.#number(ply)];
    if (this.game.safe(state) === null) {
      throw new Refusal(CONFLICT, "squares belong to nobody in this game");
    }
    return expectedTerritory(this.game, state, this.description);
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

  // ply: the position before this ply; null: the current one.
  /** @type {(ply: number | null) => number} */
  #number(ply) {
    if (ply !== null && ply > this.plies.length) {
      throw new Refusal(404, `this match has only ${this.plies.length} plies`);
    }
    return ply ?? this.plies.length;
  }

  /** @type {(ply: number | null) => ServedMatch} */
  view = (ply) => dataOf(this, this.#number(ply));

  /** @type {(ply: number | null) => JudgedView} */
  judged = (ply) => judgedView(this, this.#number(ply));

  // The best action that is known before a ply.
  /** @type {(ply: number | null) => HintView} */
  hint(ply) {
    const number = this.#number(ply);
    const judged = this.judgement(number);
    if (judged === null) {
      throw new Refusal(CONFLICT, "the match is over");
    }
    const state = this.states[number];
    const { values } = judged;
    const action = bestOf(values);
    const { kind, legal, source } = judgedView(this, number);
    const line = this.#line(state, action);
    const words = legal.find((one) => one.action === action)?.words ?? null;
    return {
      action,
      text: this.description.words[state.player][action],
      value: values[action],
      words,
      in_points: kind === "points",
      source: words === null ? source : PERFECT_PLAY,
      line: line.map(({ text: one }) => one),
      line_squares: line.map(({ squares }) => squares),
    };
  }

  // An action and those that follow if both players take the best action by the values of the judge.
  /** @type {(state: GameState, action: number) => {text: string, squares: number[]}[]} */
  #line(state, action) {
    const moves = [];
    const latest = performance.now() + LINE_MILLISECONDS;
    for (let next = action; ; ) {
      const after = this.game.step(state, next);
      moves.push({ text: this.description.texts[state.player][next], squares: this.#squaresOf(state, after, next) });
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
    const pointed = this.description.pointed[action];
    const placed = placedSquare(this, this.game.contents(before), this.game.contents(after), action);
    const isMove = this.description.view.moves_stones && pointed.length === 2 && placed !== null;
    return [...pointed.filter((square) => isMove && square !== placed), ...(placed === null ? pointed.slice(0, 1) : [placed])];
  }

  // Moves alone say nothing else of a match.
  record = () => ({ players: ["", ""], result: null, comments: {}, variations: 0, broken: this.broken });

  file = () => ({ name: `${this.description.view.name}.txt`, text: `${this.written()}\n` });

  // ---------------------------------------------------------------------- transcripts

  written() {
    const { separator, writes_passes: writesPasses } = this.description;
    return this.plies.filter(({ action }) => writesPasses || action !== this.game.passAction).map(({ text }) => text).join(separator);
  }

  // The actions of a transcript, with or without spaces and numbers of moves; each as either player writes it.
  /** @type {(text: string) => number[]} */
  #read(text) {
    const texts = this.description.texts.flat();
    if (text.startsWith("(")) {
      throw new Refusal(INVALID, "an exported page reads only the moves themselves; selfplay web reads files of other programs");
    }
    const actions = [];
    let rest = text.replace(/(?<!\S)\d+\.+\s*/g, "").toLowerCase().trim();
    while (rest !== "") {
      const found = [...texts.keys()].filter((number) => rest.startsWith(texts[number].toLowerCase()));
      if (found.length === 0) {
        throw new Refusal(INVALID, `${rest.slice(0, 20)} is not a move`);
      }
      const longest = found.reduce((best, one) => (texts[one].length > texts[best].length ? one : best));
      actions.push(longest % this.game.numActions);
      rest = rest.slice(texts[longest].length).trim();
    }
    return actions;
  }
}
