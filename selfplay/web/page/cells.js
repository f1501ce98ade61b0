// The squares of a board: how they look, and what a screen reader says of them.

import { element } from "./drawing.js";
import { markOf, stoneOf, territoryOf } from "./pieces.js";
import { showValue } from "./values.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {"isNew" | "isLeft" | "isTurned" | "isWon" | "isHinted" | "isGhost" | "isGhostStone"} CellMark */

// The number of a column, with the value of a stone in it, or room for one.
/** @type {(game: BoardGame, head: any, column: number, shown: Shown) => void} */
export function showHead(game, head, column, shown) {
  const { legal } = shown.match;
  const action = legal.find(({ square }) => square !== null && square % game.columns === column)?.action;
  const { label } = showValue(head, action, shown);
  head.replaceChildren(String(column + 1), ...(label.length > 0 ? label : [element("span", { class: "room" })]));
}

/** @type {(board: Board, cell: any, square: number, legal: ActionDescription | undefined, shown: Shown, marks: Record<CellMark, boolean> & {owner: number}) => void} */
export function showCell(board, cell, square, legal, shown, { isNew, isLeft, isTurned, isWon, isHinted, isGhost, isGhostStone, owner }) {
  const { game } = board;
  const { match } = shown;
  const classes = { legal, last: isNew, origin: isLeft, won: isWon, hinted: isHinted };
  Object.entries(classes).forEach(([name, is]) => cell.classList.toggle(name, Boolean(is)));
  const { label, words } = showValue(cell, legal?.action, shown);
  const stone = isGhostStone ? (match.to_move === 0 ? 1 : -1) : match.squares[square];
  const isDead = Boolean(match.count?.dead.includes(square));
  // On a stone, the territory of the other player.
  const isOwn = stone !== 0 && !isDead && Math.sign(owner) === stone;
  const territory = isOwn || isGhostStone ? 0 : owner;
  const isTaken = match.squares[square] !== 0 && Boolean(board.actions.get(square)?.some((one) => one.square === null));
  cell.classList.toggle("taken", isTaken);
  const mark = match.marks?.[square] ?? "";
  cell.classList.toggle("marked", mark !== "");
  const isKo = match.ko === square && stone === 0;
  cell.classList.toggle("ko", isKo);
  redraw(game, cell, stone, { isNew, isTurned, isGhost: isGhostStone, isDead, territory, mark }, board.heads.length > 0 || shown.territory ? [] : label);
  /** @type {Record<string, boolean>} */
  const marks = { "ko, may not be taken now": isKo, "can be removed": isTaken, dead: isDead, "last move": isNew, "left by the last move": isLeft, "just turned": isTurned, "in the winning line": isWon, hint: isHinted, "move of the match": isGhost };
  const owned = territory === 0 ? [] : [`${Math.abs(territory) < 1 ? "likely " : ""}territory of ${stoneName(game, Math.sign(territory))}`];
  const said = [game.square_names[square], stoneName(game, match.squares[square]), ...(mark === "" ? [] : [mark]), ...owned, ...words];
  cell.setAttribute("aria-label", [...said, ...Object.keys(marks).filter((mark) => marks[mark])].join(", "));
  cell.setAttribute("aria-disabled", String(!board.isEdited && !(match.count && stone !== 0) && !board.actions.has(square) && !board.moves.has(square)));
  if (game.moves_stones) {
    cell.setAttribute("aria-selected", String(square === board.chosen));
  }
}

// Redraws a square only if it has changed; otherwise the animation of a turned disc would start again.
/** @type {(game: BoardGame, cell: any, stone: number, marks: {isNew: boolean, isTurned: boolean, isGhost: boolean, isDead: boolean, territory: number, mark: string}, label: any[]) => void} */
function redraw(game, cell, stone, marks, label) {
  const drawn = JSON.stringify([stone, marks, label[0]?.outerHTML]);
  if (cell.dataset.drawn !== drawn) {
    cell.dataset.drawn = drawn;
    const territory = marks.territory === 0 ? [] : [territoryOf(game, marks.territory)];
    const marked = marks.mark === "" || game.draws_lines ? [] : [markOf(game, marks.mark)];
    cell.replaceChildren(...(stone === 0 ? marked : [stoneOf(game, stone === 1 ? 0 : 1, marks)]), ...territory, ...label);
  }
}

/** @type {(game: BoardGame, stone: number) => string} */
function stoneName(game, stone) {
  return stone === 0 ? "empty" : game.seat_names[stone === 1 ? 0 : 1];
}
