// A match as in selfplay/web/match.py: what people and players do in it, hints and transcripts.

import { bestOf } from "./game.js";
import { drawsOf, newKey } from "./random.js";
import { judgedView, placedSquare, viewOf } from "./view.js";

const SEATS = { first: [0], second: [1], both: [0, 1], none: [] };
const LONGEST_LINE = 10;
const LINE_MILLISECONDS = 1500;
const CONFLICT = 409;
const INVALID = 422;

// An error: the status and the sentence of the answer.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Match {
  // description: game.json. players: {opponent, partner, evaluator, judge}, each {offer, consider(state, draws)}; partner and
  // evaluator may be null. consider: see worker.js.
  constructor(id, description, game, players, { person = "first", moves = "", position = null, is_practice: isPractice = false }) {
    if (position !== null) {
      throw new Refusal(INVALID, "an exported page begins matches at the start only; selfplay web can set up positions");
    }
    Object.assign(this, { id, description, game, ...players, people: person, number: 0, key: newKey() });
    this.results = [0, 0, 0];
    this.#begin();
    // A match that is brought back is not counted again.
    this.isCounted = true;
    for (const action of this.#read(moves)) {
      // Transcripts may leave out passes.
      if (action !== this.game.passAction) {
        this.#passIfForced();
      }
      this.#take(action, this.canOnlyPass);
    }
    this.isPractice = isPractice;
    this.isCounted = isPractice || this.state.isOver;
    this.#valuePlies();
  }

  #begin() {
    Object.assign(this, { states: [this.game.start()], plies: [], considered: new Map(), isPractice: false, isCounted: false });
  }

  get state() {
    return this.states.at(-1);
  }

  get personSeat() {
    return SEATS[this.people].length === 1 ? SEATS[this.people][0] : null;
  }

  // Who holds each seat; null for a person.
  get seats() {
    return [0, 1].map((seat) => (SEATS[this.people].includes(seat) ? null : seat === 0 && this.people === "none" ? (this.partner ?? this.opponent) : this.opponent));
  }

  get canOnlyPass() {
    const legal = this.game.legal(this.state);
    return legal.length === 1 && legal[0] === this.game.passAction;
  }

  get awaitsPerson() {
    return !this.state.isOver && this.seats[this.state.player] === null && !this.canOnlyPass;
  }

  // ---------------------------------------------------------------------- what a person can do

  play(action, ply) {
    if (ply !== this.plies.length) {
      throw new Refusal(CONFLICT, `this match has ${this.plies.length} plies, not ${ply}; load it again`);
    }
    if (!this.awaitsPerson) {
      throw new Refusal(CONFLICT, this.state.isOver ? "the match is over" : "it is not a person's turn");
    }
    this.estimate(this.plies.length);
    this.#take(action, false);
  }

  // Until a person has to choose or the match is over; one ply in a match without people.
  reply() {
    while (!this.state.isOver && !this.awaitsPerson) {
      if (!this.#passIfForced()) {
        this.estimate(this.plies.length);
        this.#take(this.#consider(this.seats[this.state.player], this.plies.length).action, false);
      }
      if (this.people === "none") {
        return;
      }
    }
  }

  #passIfForced() {
    const isForced = this.canOnlyPass;
    if (isForced) {
      this.#take(this.game.passAction, true);
    }
    return isForced;
  }

  #take(action, isForced) {
    const { state } = this;
    const text = this.description.texts[state.player][action];
    if (!this.game.legal(state).includes(action)) {
      throw new Refusal(INVALID, state.isOver ? "the match is over after these moves" : `action ${text ?? action} is not legal here`);
    }
    this.states.push(this.game.step(state, action));
    this.plies.push({ seat: state.player, action, text, by_person: this.seats[state.player] === null, is_forced: isForced });
    if (this.state.isOver && !this.isCounted) {
      this.isCounted = true;
      this.results[this.state.result === 0 ? 2 : Number(this.state.result < 0) ^ (this.personSeat ?? 0)] += 1;
    }
  }

  undo() {
    const choices = this.plies.map((ply, number) => (ply.by_person && !ply.is_forced ? number : -1));
    this.rewind(Math.max(...choices));
  }

  rewind(ply) {
    if (!(ply >= 0 && ply <= this.plies.length)) {
      throw new Refusal(CONFLICT, "the match has no such move");
    }
    this.isPractice ||= this.isCounted;
    this.plies.length = ply;
    this.states.length = ply + 1;
    [...this.considered.keys()].filter((number) => number > ply).forEach((number) => this.considered.delete(number));
  }

  next(person) {
    if (this.personSeat !== null) {
      this.people = person ?? this.people;
    }
    this.number += this.plies.length > 0 ? 1 : 0;
    this.#begin();
  }

  takeOver(players) {
    const before = this.seats;
    Object.assign(this, players);
    if (this.seats.some((one, seat) => one !== before[seat])) {
      this.results = [0, 0, 0];
    }
    this.#valuePlies();
  }

  #valuePlies() {
    if (![this.adviser(0), ...this.seats].some((one) => one?.offer.is_slow)) {
      this.plies.forEach((ply, number) => ply.is_forced || this.estimate(number));
    }
  }

  // Whose values are shown before a ply.
  adviser(number) {
    const { player } = this.states[number];
    const players = [this.opponent, ...this.seats.filter((one) => one !== null)];
    const isEstimated = players.every(({ offer }) => offer.estimates);
    return this.evaluator ?? (isEstimated ? (this.seats[player] ?? this.seats[1 - player] ?? this.opponent) : this.judge);
  }

  // What a player finds in the position before a ply, once for each ply.
  #consider(player, number) {
    const known = this.considered.get(number) ?? new Map();
    this.considered.set(number, known);
    if (!known.has(player)) {
      known.set(player, player.consider(this.states[number], drawsOf(this.key, this.number, number)));
    }
    return known.get(player);
  }

  // The adviser's values before a ply, {values, isExact}, in points if the agent values points.
  estimate(number) {
    return this.states[number].isOver ? null : this.#inUnits(this.#consider(this.adviser(number), number));
  }

  // What the adviser found before a ply, if it was asked.
  known(number) {
    const found = this.considered.get(number)?.get(this.adviser(number));
    return found === undefined ? null : this.#inUnits(found);
  }

  #inUnits({ values, isExact = false }) {
    const points = this.description.points_per_value;
    // Exact values that are not points are results; a search prefers the sooner of two wins.
    const unit = points !== null ? (value) => value * points : isExact ? Math.sign : (value) => value;
    return values && { values: values.map(unit), isExact };
  }

  // The judge's values before a ply.
  judgement(number) {
    return this.states[number]?.isOver === false ? this.#inUnits(this.#consider(this.judge, number)) : null;
  }

  // ply: the position before this ply; null: the current one.
  view(ply = null) {
    const number = ply ?? this.plies.length;
    if (!(number <= this.plies.length)) {
      throw new Refusal(404, `this match has only ${this.plies.length} plies`);
    }
    return viewOf(this, number);
  }

  // The best action that is known before a ply.
  hint(number) {
    const judged = this.judgement(number);
    if (judged === null) {
      throw new Refusal(CONFLICT, "the match is over");
    }
    const state = this.states[number];
    const { values } = judged;
    const action = bestOf(values);
    const after = this.game.squares(this.game.step(state, action));
    const { kind, words, source } = judgedView(this, number);
    return {
      action,
      text: this.description.words[state.player][action],
      square: placedSquare(this, this.game.squares(state), after, action),
      value: values[action],
      words: words[this.game.legal(state).indexOf(action)],
      in_points: kind === "points",
      source,
      line: this.#line(state, action),
    };
  }

  judged = (number) => judgedView(this, number);

  // An action and those that follow if both players take the best action by the values of the judge.
  #line(state, action) {
    const moves = [];
    const latest = performance.now() + LINE_MILLISECONDS;
    for (let next = action; next !== null; next = moves.length < LONGEST_LINE && performance.now() < latest && !state.isOver ? bestOf(this.judge.consider(state, () => 0).values) : null) {
      moves.push(this.description.texts[state.player][next]);
      state = this.game.step(state, next);
    }
    return moves;
  }

  file() {
    return { name: `${this.description.view.name}.txt`, text: `${this.written()}\n` };
  }

  // ---------------------------------------------------------------------- transcripts

  written() {
    const { separator, writes_passes: writesPasses } = this.description;
    return this.plies.filter(({ action }) => writesPasses || action !== this.game.passAction).map(({ text }) => text).join(separator);
  }

  // The actions of a transcript, with or without spaces and numbers of moves; each as either player writes it.
  #read(text) {
    const texts = this.description.texts.flat();
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
