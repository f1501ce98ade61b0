// The buttons, radio buttons and keys around the board.

import { at } from "./drawing.js";
import { areWatching } from "./people.js";

const enable = (id, is) => at(id).setAttribute("aria-disabled", String(!is));

// aria-disabled instead of disabled, so that a button keeps the keyboard focus.
// shown: {match, isBusy, isRunning, cursor, lesson}
export function showControls({ match, isBusy, isRunning, cursor, lesson }) {
  const isWatched = areWatching(match?.people);
  for (const [id, is] of [["undo", !isWatched], ["hint", !isWatched], ["step", isWatched], ["run", isWatched]]) {
    at(id).hidden = !is;
  }
  const count = match?.plies.length ?? 0;
  enable("new", !isBusy || isRunning);
  enable("undo", !isBusy && match?.can_undo);
  enable("hint", !isBusy && match !== null && (match.awaits_person || cursor < count));
  enable("step", !isBusy && match !== null && !match.is_over);
  enable("run", match !== null && !match.is_over);
  at("run").textContent = isRunning ? "Pause" : "Run";
  at("review").hidden = count === 0 || lesson !== null;
  at("lesson").hidden = lesson === null;
  enable("solution", lesson?.isSolved === false && lesson.mistakes.length > 0);
  enable("next-mistake", lesson !== null && lesson.number + 1 < lesson.mistakes.length);
  const canLearn = match !== null && match.is_over && cursor === count && match.plies.some((ply) => ply.by_person);
  at("learn").hidden = !canLearn;
  at("play-on").hidden = canLearn;
  at("review-place").textContent = cursor < count ? `${cursor} of ${count}` : `${count}`;
  for (const id of ["to-start", "back"]) {
    enable(id, cursor > 0);
  }
  for (const id of ["forward", "to-end"]) {
    enable(id, cursor < count);
  }
  enable("play-on", !isBusy && cursor < count);
}

// handlers: the functions to call: {next, undo, hint, step, run, goTo, playOn, returnTo, opponent, slide, level, partner,
// slidePartner, partnerLevel, person, values}; goTo(to) takes a number of plies, or a function from the present one.
export function listen(handlers) {
  const { goTo } = handlers;
  const steps = { "to-start": 0, back: (cursor) => cursor - 1, forward: (cursor) => cursor + 1, "to-end": Infinity };
  const clicks = { new: handlers.next, "play-on": handlers.playOn, return: handlers.returnTo };
  for (const name of ["undo", "hint", "step", "run"]) {
    clicks[name] = handlers[name];
  }
  Object.entries(steps).forEach(([id, to]) => at(id).addEventListener("click", () => goTo(to)));
  Object.entries(clicks).forEach(([id, handler]) => at(id).addEventListener("click", () => handler()));
  for (const [list, slider, change, slide, level] of [
    ["opponent", "number", handlers.opponent, handlers.slide, handlers.level],
    ["partner", "partner-number", handlers.partner, handlers.slidePartner, handlers.partnerLevel],
  ]) {
    at(list).addEventListener("change", change);
    at(slider).addEventListener("input", slide);
    at(slider).addEventListener("change", level);
  }
  for (const name of ["person", "values"]) {
    document.querySelectorAll(`input[name=${name}]`).forEach((radio) => radio.addEventListener("change", handlers[name]));
  }
  document.addEventListener("keydown", (event) => pressed(event, handlers, steps));
}

function pressed(event, handlers, steps) {
  const isTyping = event.target.matches("select, textarea, input:not([type=radio], [type=range])");
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
    return;
  }
  const keys = { u: handlers.undo, h: handlers.hint, n: handlers.next };
  const moves = { ",": steps.back, ".": steps.forward };
  // These keys move radio buttons, sliders and scrolled tables.
  if (!event.target.matches("input, .scroll, summary")) {
    Object.assign(moves, { ArrowLeft: steps.back, ArrowRight: steps.forward });
  }
  if (event.key in moves) {
    event.preventDefault();
    handlers.goTo(moves[event.key]);
  } else {
    keys[event.key]?.();
  }
}
