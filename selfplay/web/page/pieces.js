// The parts of a board other than its squares: stones, and the letters and numbers around it.

import { element, svg } from "./drawing.js";

// The letters of the marks of a square.
/** @type {(game: Pick<GameView, "square_marks" | "mark_signs">, mark: string) => string} */
export const signsOfMark = ({ square_marks: texts, mark_signs: signs }, mark) => mark.split(", ").map((text) => signs[texts.indexOf(text)] ?? "").join("");

// The sign of a stone without a colour: the letters of its marks; without a mark X or O, as in the console, unless
// the name of the player is one character.
/** @type {(game: Pick<GameView, "seat_names" | "square_marks" | "mark_signs">, seat: number, mark?: string) => string} */
export const signOf = (game, seat, mark = "") => (mark !== "" ? signsOfMark(game, mark) : game.seat_names[seat].length === 1 ? game.seat_names[seat] : "XO"[seat]);

// Letters of a square of 100x100, smaller where there are several.
/** @type {(text: string) => any} */
const lettersOf = (text) => svg("text", { x: 50, y: 60 + 10 / text.length, "text-anchor": "middle", "font-size": 60 / Math.max(1, text.length * 0.7), "font-weight": "bold" }, text);

// The marks of a square without a stone.
/** @type {(game: GameView, mark: string) => any} */
export const markOf = (game, mark) => svg("svg", { viewBox: "0 0 100 100", class: "sign of-square", "aria-hidden": "true" }, lettersOf(signsOfMark(game, mark)));

/** @type {(game: GameView, seat: number, marks: {isNew: boolean, isTurned: boolean, isGhost: boolean, isDead?: boolean, mark?: string}) => any} */
export function stoneOf(game, seat, { isNew, isTurned, isGhost, isDead = false, mark = "" }) {
  const marks = `${isTurned ? " turned" : ""}${isNew ? " new" : ""}${isGhost ? " ghost" : ""}${isDead ? " dead" : ""}`;
  if (game.stone_colours) {
    return element("span", { class: `disc ${game.stone_colours[seat]}${marks}` }, ...(mark === "" ? [] : [element("b", {}, signsOfMark(game, mark))]));
  }
  const name = signOf(game, seat, mark);
  const drawing =
    name === "X"
      ? svg("path", { d: "M24 24L76 76M76 24L24 76" })
      : name === "O"
        ? svg("circle", { cx: 50, cy: 50, r: 28 })
        : lettersOf(name);
  return svg("svg", { viewBox: "0 0 100 100", class: `sign seat${seat}${marks}`, "aria-hidden": "true" }, drawing);
}

// The mark of a square that counts for a player at the end: 1 for seat 0, -1 for seat 1; or between, how surely it will.
/** @type {(game: Pick<GameView, "stone_colours">, owner: number) => any} */
export function territoryOf({ stone_colours: colours }, owner) {
  const seat = owner > 0 ? 0 : 1;
  const mark = element("span", { class: `territory ${colours?.[seat] ?? `seat${seat}`}` });
  mark.style.setProperty("--sure", Math.abs(owner));
  return mark;
}

/** @type {(texts: string[], kind: string) => any} */
function edge(texts, kind) {
  const made = element("div", { class: `edge ${kind}`, "aria-hidden": "true" });
  made.append(...texts.map((text) => element("span", {}, text)));
  [...made.children].forEach((span, number) => span.style.setProperty("--row", number));
  return made;
}

// The board with its surroundings: {frame, heads, turn}. A board of columns has their numbers above it (the heads), which show
// the values. Others have letters and numbers if their squares are named a1, b1, … or by row and column.
// turn(isTurned): exchanges the ends of the letters and numbers.
/** @type {(game: BoardGame, board: any) => {frame: any, heads: any[], turn: (isTurned: boolean) => void}} */
export function framed({ rows, columns, square_names: names, drops_stones: dropsStones }, board) {
  if (dropsStones) {
    const top = edge(names.slice(0, columns).map((_, column) => String(column + 1)), "top heads");
    return { frame: element("div", { class: "framed columns" }, top, board), heads: [...top.children], turn: () => {} };
  }
  const parts = names.map((name) => name.match(/^([a-z])(\d+)$/i)?.slice(1) ?? name.match(/^(\d+),(\d+)$/)?.slice(1).reverse() ?? name.match(/^column (\d+), row (\d+)$/)?.slice(1) ?? []);
  if (parts.some(({ length }) => length === 0)) {
    return { frame: board, heads: [], turn: () => {} };
  }
  const texts = [parts.slice(0, columns).map(([column]) => column), parts.filter((_, square) => square % columns === 0).map(([, row]) => row)];
  const edges = ["top", "left"].map((kind, side) => edge(texts[side], kind));
  const frame = element("div", { class: "framed" }, ...edges, board);
  frame.style.setProperty("--lean", (rows - 1) / 2);
  const turn = (/** @type {boolean} */ isTurned) => edges.forEach((one, side) => [...one.children].forEach((span, number) => (span.textContent = texts[side].at(isTurned ? -1 - number : number))));
  return { frame, heads: [], turn };
}
