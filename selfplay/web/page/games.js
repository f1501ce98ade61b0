// The games as pictures of their boards, each with its sizes.

import * as api from "./api.js";
import { at, element, svg } from "./drawing.js";
import { hasBoard } from "./geometry.js";
import { pictureOf } from "./picture.js";
import { viewOf } from "./view.js";

const SIZE = / (\d+x\d+)$/;

// The boards of each game, by its title without their size; games without a board last.
/** @type {(games: GameView[]) => Map<string, GameView[]>} */
export function byTitle(games) {
  const sorted = games.toSorted((one, other) => Number(one.rows === null) - Number(other.rows === null));
  return Map.groupBy(sorted, ({ title }) => title.replace(SIZE, ""));
}

let isDrawn = false;

// Shows the games. Their pictures get stones one after another, so that other requests do not wait for them.
/** @type {(games: GameView[]) => Promise<void>} */
export async function open(games) {
  if (isDrawn) {
    return;
  }
  isDrawn = true;
  const boards = [...byTitle(games)];
  const pictures = boards.map(([, [usual]]) => element("span", { class: "picture" }, drawingOf(usual)));
  at("game-list").replaceChildren(...boards.map(([title, some], number) => cardOf(title, some, pictures[number])));
  for (const [number, [, [usual]]] of boards.entries()) {
    if (hasBoard(usual)) {
      // Without an answer, the board stays empty.
      const example = await api.rules(usual.name).catch(() => null);
      pictures[number].replaceChildren(drawingOf(usual, example && viewOf(usual, example.picture)));
    }
  }
}

/** @type {(game: GameView, position?: MatchDescription | null) => any} */
function drawingOf(game, position = null) {
  const drawing = hasBoard(game) ? pictureOf(game, position ?? undefined) : numberOf(game);
  drawing.setAttribute("aria-hidden", "true");
  return drawing;
}

// In a game without a board: the number at which it ends.
/** @type {(game: GameView) => any} */
const numberOf = ({ line_end: end }) =>
  svg("svg", { viewBox: "0 0 3 3" }, svg("text", { x: 1.5, y: 1.9, "text-anchor": "middle", "font-weight": "bold", "font-size": 1.1, fill: "currentColor" }, String(end ?? "#")));

/** @type {(title: string, some: GameView[], picture: any) => any} */
function cardOf(title, some, picture) {
  const card = element("li", {}, element("a", { class: "game", href: `#play/${some[0].name}` }, picture, element("b", {}, title)));
  if (some.length > 1) {
    const sizes = some.toSorted((one, other) => Number(one.rows) - Number(other.rows));
    card.append(element("span", { class: "sizes" }, ...sizes.map((game) => element("a", { href: `#play/${game.name}`, "aria-label": game.title }, sizeOf(game)))));
  }
  return card;
}

// The size as the title says it; the usual one may not be said.
/** @type {(game: GameView) => string} */
const sizeOf = ({ title, rows, columns }) => title.match(SIZE)?.[1] ?? `${columns}x${rows}`;
