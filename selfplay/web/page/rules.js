// The view of the rules of a game: sentences, and a position as a picture.

import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { at, element } from "./drawing.js";
import { hasBoard } from "./geometry.js";
import { RESULT_SCALE } from "./values.js";
import { viewOf } from "./view.js";

let visit = 0;
const nothing = () => {};

/** @type {(game: GameView) => Promise<void>} */
export async function open(game) {
  visit += 1;
  const mine = visit;
  at("rules-title").textContent = `How to play ${game.title}`;
  at("rules-aim").textContent = game.aim;
  at("rules-written").textContent = `In text, a move is written as ${game.action_help}.`;
  at("rules-text").replaceChildren();
  at("rules-picture").replaceChildren();
  at("rules-caption").textContent = "One moment…";
  try {
    const { sentences, picture, caption } = await api.rules(game.name);
    if (mine === visit) {
      at("rules-text").replaceChildren(...sentences.map((text) => element("li", {}, text)));
      draw(game, viewOf(game, picture), caption);
    }
  } catch (/** @type {any} */ error) {
    if (mine === visit) {
      at("rules-caption").textContent = error.message;
    }
  }
}

/** @type {(game: GameView, match: MatchDescription, caption: string) => void} */
function draw(game, match, caption) {
  const place = element("div", { class: "picture", role: "img", "aria-label": caption });
  const board = hasBoard(game) ? new Board(place, game, nothing, nothing, nothing) : new Buttons(place, game, nothing);
  // A picture: nothing in it can be clicked or reached by keys.
  [...place.children].forEach((child) => (child.inert = true));
  at("rules-picture").replaceChildren(place);
  at("rules-caption").textContent = caption;
  const drawn = { ...match, squares: match.squares ?? [] };
  board.show({ match: drawn, known: new Map(), scale: RESULT_SCALE, isOpen: false, isEdited: false, hint: null, ghost: null });
}
