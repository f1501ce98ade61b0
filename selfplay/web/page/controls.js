// The buttons, radio buttons and keys around the board.

import { at } from "./drawing.js";

// They stay where they are for the keyboard while they can do nothing.
export function showControls(match, isBusy) {
  at("new").setAttribute("aria-disabled", String(isBusy));
  at("undo").setAttribute("aria-disabled", String(isBusy || !match?.can_undo));
  at("hint").setAttribute("aria-disabled", String(isBusy || !match?.awaits_person));
}

// does: what is done with each of them: {next, undo, hint, opponent, slide, level, person, values}
export function listen(does) {
  at("new").addEventListener("click", does.next);
  at("undo").addEventListener("click", does.undo);
  at("hint").addEventListener("click", does.hint);
  at("opponent").addEventListener("change", does.opponent);
  at("number").addEventListener("input", does.slide);
  at("number").addEventListener("change", does.level);
  for (const name of ["person", "values"]) {
    document.querySelectorAll(`input[name=${name}]`).forEach((radio) => radio.addEventListener("change", does[name]));
  }
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
      return;
    }
    ({ u: does.undo, h: does.hint, n: does.next })[event.key]?.();
  });
}
