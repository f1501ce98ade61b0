// The address of a view. It names the game and, for a match, all that describes it:
//
//     #games/
//     #rules/othello
//     #story/tictactoe
//     #story/tictactoe?run=outputs/article&smoothing=2&hidden=1,2
//     #play/othello?opponent=level-3&person=second&seed=4711&moves=f5d6c3
//     #play/connect_four?opponent=perfect&person=both&position=-…-XO.0&moves=44&analyse=1&ply=1

// The views besides that of matches.
const OTHER_VIEWS = ["games", "rules", "story"];

// How people end a match before its rules do.
/** @type {NonNullable<Match["ended"]>[]} */
const ENDS = ["resigned", "drawn"];

/** @type {Record<string, -1 | 0 | 1>} */
const STONES = { X: 1, O: -1, "-": 0 };
/** @type {Record<number, string>} */
const SIGNS = { 1: "X", "-1": "O", 0: "-" };

// The seats of a match that people hold. Addresses, requests and answers name them by one word.
/** @type {Record<string, number[]>} */
const SEATS = { first: [0], second: [1], both: [0, 1], none: [] };

// Questions about such a word. The word of a match that does not exist is undefined; the answer is then no.
/** @type {(people: string | undefined) => boolean} */
export const areWatching = (people) => SEATS[people ?? ""]?.length === 0;
/** @type {(people: string | undefined) => boolean} */
export const isOnePerson = (people) => SEATS[people ?? ""]?.length === 1;
/** @type {(people: string | undefined) => boolean} */
export const areTwoPeople = (people) => SEATS[people ?? ""]?.length === 2;

// A number for the random numbers of a new match.
export const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0];

// {view, game, saved, shown}. saved: the match in the address, with the fields of a request except the game, where null
// means the default opponent; null if there is no match. shown: {isAnalysed, values, ply, hasTerritory, variation, isInVariation}: whether it is analysed,
// the values on the board (null: the usual ones), the number of plies before the position (null: all plies), whether
// territory is shown, the moves of the variation beside the match (null: none), and whether the position is in it; all but the
// first are of an analysis. Moves without players are shown as they are.
/** @type {(hash: string) => {view: string, game: string | undefined, saved: SavedMatch | null, shown: ShownAs | null}} */
export function read(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const [view, game] = path.split("/");
  const given = new URLSearchParams(query);
  const isOther = OTHER_VIEWS.includes(view);
  if (isOther || given.size === 0) {
    return { view: isOther ? view : "play", game, saved: null, shown: null };
  }
  const person = /** @type {People} */ (given.get("person"));
  /** @type {People} */
  const people = given.has("opponent") || !given.has("moves") ? "first" : "both";
  const seed = /^\d{1,15}$/.test(given.get("seed") ?? "") ? Number(given.get("seed")) : given.has("moves") ? 0 : newSeed();
  const saved = {
    opponent: given.get("opponent"),
    person: Object.hasOwn(SEATS, person ?? "") ? person : people,
    partner: given.get("partner"),
    adviser: given.get("adviser"),
    seed,
    moves: given.get("moves") ?? "",
    position: readPosition(given.get("position")),
    is_practice: given.has("practice"),
    stood_in: readNumbers(given.get("stood_in")) ?? [],
    dead: readNumbers(given.get("dead")),
    ended: ENDS.find((end) => end === given.get("ended")) ?? null,
  };
  const ply = given.has("ply") ? Number(given.get("ply")) : null;
  const isAnalysed = ["analyse", "values", "ply", "territory", "variation"].some((name) => given.has(name));
  return { view: "play", game, saved, shown: { isAnalysed, values: given.get("values"), ply, hasTerritory: given.has("territory"), variation: given.get("variation"), isInVariation: given.get("line") === "variation" } };
}

// The choices in the address of a story, as StoryChoices has them; null if it has none.
/** @type {(hash: string) => Choices | null} */
export function readStory(hash) {
  const query = hash.split(/\?(.*)/s)[1];
  if (!query) {
    return null;
  }
  const given = new URLSearchParams(query);
  const numbers = (/** @type {string | null} */ text) => (text ?? "").split(",").filter((part) => /^\d+$/.test(part)).map(Number);
  return { runs: given.getAll("run"), smoothing: numbers(given.get("smoothing"))[0] ?? 0, hidden: new Set(numbers(given.get("hidden"))) };
}

/** @type {(game: string, choices: Choices) => string} */
export function writeStory(game, { runs, smoothing, hidden }) {
  const given = new URLSearchParams(runs.map((run) => ["run", run]));
  if (smoothing > 0) {
    given.set("smoothing", String(smoothing));
  }
  if (hidden.size > 0) {
    given.set("hidden", [...hidden].sort((one, other) => one - other).join(","));
  }
  return `#story/${game}${given.size > 0 ? `?${given}` : ""}`;
}

// Squares or plies as numbers; none if the text is empty, null without one.
/** @type {(text: string | null) => number[] | null} */
const readNumbers = (text) => text?.split(",").filter((part) => /^\d+$/.test(part)).map(Number) ?? null;

/** @type {(text: string | null) => PositionRequest | null} */
function readPosition(text) {
  const [board, turn] = text?.split(".") ?? [];
  const squares = [...(board ?? "")].map((sign) => STONES[sign]);
  const isValid = squares.length > 0 && squares.every((stone) => stone !== undefined) && /^[01]$/.test(turn);
  return isValid ? { squares, to_move: turn === "0" ? 0 : 1 } : null;
}

// shown: as in the result of read.
/** @type {(match: Match, shown?: Partial<ShownAs>) => string} */
export function write({ game, opponent, person, partner, adviser, seed, position, moves, is_practice: isPractice, stood_in: stoodIn, dead, ended }, { isAnalysed = false, values = null, ply = null, hasTerritory = false, variation = null, isInVariation = false } = {}) {
  const given = new URLSearchParams({ opponent, person });
  const optional = {
    partner,
    adviser,
    seed: seed.toString(),
    position: position && `${position.squares.map((stone) => SIGNS[stone]).join("")}.${position.to_move}`,
    moves,
    practice: isPractice ? "1" : null,
    stood_in: stoodIn.join(),
    dead: dead && (dead.join() || "none"),
    ended,
    analyse: isAnalysed ? "1" : null,
    values,
    ply: ply === null ? null : String(ply),
    territory: hasTerritory ? "1" : null,
    variation,
    line: isInVariation ? "variation" : null,
  };
  Object.entries(optional).forEach(([name, value]) => value && given.set(name, value));
  return `#play/${game}?${given}`;
}
