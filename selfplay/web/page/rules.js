// The view of the rules of a game: sentences, and a position as a picture.

import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { at, element } from "./drawing.js";
import { RESULT_SCALE } from "./values.js";

let visit = 0;

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
      draw(game, picture, caption);
    }
  } catch (/** @type {any} */ error) {
    if (mine === visit) {
      at("rules-caption").textContent = error.message;
    }
  }
}

function draw(game, match, caption) {
  const place = element("div", { class: "picture", role: "img", "aria-label": caption });
  const board = new (game.rows === null ? Buttons : Board)(place, game, () => {}, () => {});
  // A picture: nothing in it can be clicked or reached by keys.
  [...place.children].forEach((child) => (child.inert = true));
  at("rules-picture").replaceChildren(place);
  at("rules-caption").textContent = caption;
  board.show({ match, known: new Map(), scale: RESULT_SCALE, isOpen: false, isEdited: false, hint: null, ghost: null });
}
