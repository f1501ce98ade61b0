// The buttons, radio buttons and keys around the board.

import { at } from "./drawing.js";

// aria-disabled instead of disabled, so that a button keeps the keyboard focus.
export function showControls(match, isBusy) {
  at("new").setAttribute("aria-disabled", String(isBusy));
  at("undo").setAttribute("aria-disabled", String(isBusy || !match?.can_undo));
  at("hint").setAttribute("aria-disabled", String(isBusy || !match?.awaits_person));
}

// handlers: the functions to call: {next, undo, hint, opponent, slide, level, person, values}
export function listen(handlers) {
  at("new").addEventListener("click", handlers.next);
  at("undo").addEventListener("click", handlers.undo);
  at("hint").addEventListener("click", handlers.hint);
  at("opponent").addEventListener("change", handlers.opponent);
  at("number").addEventListener("input", handlers.slide);
  at("number").addEventListener("change", handlers.level);
  for (const name of ["person", "values"]) {
    document.querySelectorAll(`input[name=${name}]`).forEach((radio) => radio.addEventListener("change", handlers[name]));
  }
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
      return;
    }
    ({ u: handlers.undo, h: handlers.hint, n: handlers.next })[event.key]?.();
  });
}
