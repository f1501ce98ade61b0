// A match that is played again from its moves, as a request describes it.

import { deadStones, expectedTerritory } from "./dead_stones.js";

/** @type {Record<string, number[]>} */
const SEATS = { first: [0], second: [1], both: [0, 1], none: [] };
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

// The start of a match in SGF or GGF.
const TREE = /\(\s*;\s*[A-Za-z]+\s*\[/;
/** @type {Record<string, number>} */
const RESULTS = { "1-0": 1, "1/2-1/2": 0, "0-1": -1 };
const SCORE = /^(\d+(?:\.\d+)?)[-:](\d+(?:\.\d+)?)$/;
// The number of a second or later move, at the beginning of a line: the match of the line before continues.
const LATER_MOVE = /^\s*(?!1\.)\d+\./;
const LEAD = /^(?:[+-]\d+(?:\.\d+)?|0)$/;

// The result for the first player of a word such as 1-0, 1/2-1/2, or 44-20 and +24 in a game of points, of which there
// are `most`; null if it is not a result.
/** @type {(word: string, most: number | null) => number | null} */
function resultIn(word, most) {
  if (Object.hasOwn(RESULTS, word)) {
    return RESULTS[word];
  }
  if (most === null || (word.match(/\d+(?:\.\d+)?/g) ?? []).some((number) => Number(number) > most)) {
    return null;
  }
  const score = SCORE.exec(word);
  return score !== null ? Math.sign(Number(score[1]) - Number(score[2])) : LEAD.test(word) ? Math.sign(Number(word)) : null;
}

// Without lines that begin with #.
/** @type {(text: string) => string[]} */
const linesOf = (text) => text.split("\n").filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));

/** @typedef {Pick<PlyData, "seat" | "action" | "text" | "by_person" | "is_forced">} Ply */

export class PlayedMatch {
  /**
   * @param {Description} description
   * @param {import("./game.js").Game} game
   * @param {Pick<Participants, "opponent" | "partner">} players
   * @param {Omit<MatchRequest, "game" | "opponent">} request
   */
  constructor(description, game, players, { person = "first", seed = 0, moves = "", position = null, is_practice: isPractice = false, dead = null, is_agreed: isAgreed = true, ended = null, show = [] }) {
    if (position !== null) {
      throw new Refusal(INVALID, "an exported page begins matches at the start only; selfplay web can set up positions");
    }
    this.description = description;
    this.game = game;
    this.opponent = players.opponent;
    this.partner = players.partner;
    this.people = person;
    this.seed = seed;
    this.isPractice = isPractice;
    /** @type {GameState[]} */
    this.states = [game.start()];
    /** @type {Ply[]} */
    this.plies = [];
    /** @type {string | null} */
    this.broken = null;
    /** @type {number | null} */
    this.said = null;
    try {
      this.#read(moves).forEach((action) => this.#follow(action));
    } catch (/** @type {any} */ error) {
      const lines = linesOf(moves);
      if (lines.length > 1 && !lines.slice(1).some((line) => LATER_MOVE.test(line)) && lines.every((line) => this.#isPlayable(line))) {
        throw new Refusal(INVALID, `the text holds ${lines.length} matches; give one of them`);
      }
      if (!show.includes("record") || this.plies.length === 0) {
        throw error;
      }
      this.broken = `move ${this.plies.length + 1}: ${error.message}`;
    }
    // The position in which the text ends.
    this.read = this.state;
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

  // An action of a transcript, which may leave out passes.
  /** @type {(action: number) => void} */
  #follow(action) {
    if (action !== this.game.passAction) {
      this.passIfForced();
    }
    this.take(action, this.canOnlyPass);
  }

  passIfForced() {
    const { passAction } = this.game;
    if (passAction === null || !this.canOnlyPass) {
      return false;
    }
    this.take(passAction, true);
    return true;
  }

  /** @type {(action: number, isForced: boolean) => void} */
  take(action, isForced) {
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
    const state = this.states[this.number(ply)];
    if (this.game.safe(state) === null) {
      throw new Refusal(CONFLICT, "squares belong to nobody in this game");
    }
    return expectedTerritory(this.game, state, this.description);
  }

  // ply: the position before this ply; null: the current one.
  /** @type {(ply: number | null) => number} */
  number(ply) {
    if (ply !== null && ply > this.plies.length) {
      throw new Refusal(404, `this match has only ${this.plies.length} plies`);
    }
    return ply ?? this.plies.length;
  }

  // ---------------------------------------------------------------------- transcripts

  written() {
    const { separator, writes_passes: writesPasses } = this.description;
    return this.plies.filter(({ action }) => writesPasses || action !== this.game.passAction).map(({ text }) => text).join(separator);
  }

  // The moves of a text; a result at their end is kept apart.
  /** @type {(text: string) => string} */
  #parted(text) {
    const words = linesOf(text).join(" ").trim().split(/\s+/);
    const last = words.at(-1) ?? "";
    const isAction = this.description.texts.flat().some((one) => one.toLowerCase() === last.toLowerCase());
    const result = resultIn(last, this.description.most_points);
    if (!isAction && (last === "*" || result !== null)) {
      this.said = result;
      words.pop();
    }
    return words.join(" ").replace(/[\s:;,]+$/, "");
  }

  // Whether a text can be played as a match.
  /** @type {(moves: string) => boolean} */
  #isPlayable(moves) {
    try {
      return Boolean(new PlayedMatch(this.description, this.game, this, { moves }));
    } catch {
      return false;
    }
  }

  // The actions of a transcript, with or without spaces and numbers of moves; each as either player writes it.
  /** @type {(text: string) => number[]} */
  #read(text) {
    const texts = this.description.texts.flat();
    if (TREE.test(text)) {
      throw new Refusal(INVALID, "an exported page reads only the moves themselves; selfplay web reads files of other programs");
    }
    if (text.trim() !== "" && linesOf(text).length === 0) {
      throw new Refusal(INVALID, "the text holds no match");
    }
    const actions = [];
    let rest = this.#parted(text).replace(/(?<!\S)\d+\.+\s*/g, "").toLowerCase().trim();
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
