// Buttons for actions without a square, such as a pass, and the view of games without a board.

import { element, svg } from "./drawing.js";
import { knownOf, valueInWords, valueLabel } from "./stones.js";
import { extremes, goodness, paint, unpaint } from "./values.js";

export class ActionButtons {
  constructor(play) {
    this.play = play;
    this.legal = new Map();
    // Buttons are kept when their action becomes illegal, so that they keep the keyboard focus.
    this.buttons = new Map();
    this.group = element("div", { class: "actions", role: "group", "aria-label": "Your actions", hidden: true });
    this.group.addEventListener("keydown", (event) => this.move(event));
  }

  show(legal, shown, range) {
    this.legal = new Map(legal.map((one) => [one.action, one]));
    legal.filter((one) => !this.buttons.has(one.action)).forEach((one) => this.add(one));
    this.group.hidden = this.buttons.size === 0;
    this.isOpen = shown.isOpen;
    this.buttons.forEach((button, action) => this.draw(button, action, shown, range));
  }

  // Inserts the button in the order of the actions.
  add({ action, text }) {
    const button = element("button", { type: "button", class: "action", "data-action": action }, element("b", {}, text));
    button.addEventListener("click", () => this.isOpen && this.legal.has(action) && this.play(action));
    const next = Math.min(...[...this.buttons.keys()].filter((other) => other > action));
    this.group.insertBefore(button, this.buttons.get(next) ?? null);
    this.buttons.set(action, button);
  }

  draw(button, action, shown, range) {
    const legal = this.legal.get(action);
    const known = legal ? knownOf(action, shown) : null;
    const name = button.querySelector("b");
    button.classList.toggle("legal", Boolean(legal));
    button.classList.toggle("hinted", shown.hintAction === action);
    button.classList.toggle("best", known?.value !== undefined && known.value === range.best && shown.values.size > 1);
    button.setAttribute("aria-disabled", String(!shown.isOpen || !legal));
    button.setAttribute("aria-label", name.textContent);
    button.replaceChildren(name);
    unpaint(button);
    if (known !== null) {
      paint(button, goodness(known, shown.scale, range));
      button.append(valueLabel(known, shown.scale));
      button.setAttribute("aria-label", [name.textContent, ...valueInWords(known, shown.scale)].join(", "));
    }
  }

  move(event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (step !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      const buttons = [...this.group.children];
      buttons[buttons.indexOf(document.activeElement) + step]?.focus();
    }
  }
}

export class Buttons {
  constructor(place, game, play) {
    this.game = game;
    this.sum = element("output", { class: "sum" });
    this.track = svg("svg", { class: "track", role: "img" });
    this.actions = new ActionButtons(play);
    place.replaceChildren(element("div", { class: "numbers" }, this.sum, this.track, this.actions.group));
  }

  show(shown) {
    const { match, values, scale } = shown;
    const { line_label: label, line_end: end } = this.game;
    this.sum.replaceChildren();
    if (label === null) {
      this.sum.append(element("pre", {}, match.board));
    } else {
      this.sum.append(element("span", { class: "quiet" }, label), element("strong", {}, String(match.place)));
    }
    this.drawTrack(match, end);
    this.actions.show(match.legal, shown, extremes(values, scale));
  }

  // A line from the start to the end of the game, with a dot for each ply.
  drawTrack(match, end) {
    this.track.toggleAttribute("hidden", end === null);
    if (end === null) {
      return;
    }
    // Drawn for the available width, so that the text stays readable on a phone.
    const width = this.track.clientWidth || 440;
    const x = (number) => 10 + ((width - 20) * number) / end;
    this.track.setAttribute("viewBox", `0 0 ${width} 34`);
    this.track.setAttribute("aria-label", `${match.place} of ${end}`);
    this.track.replaceChildren(svg("line", { x1: x(0), x2: x(end), y1: 10, y2: 10, class: "rail" }));
    this.track.append(svg("line", { x1: x(0), x2: x(match.place), y1: 10, y2: 10, class: "gone" }));
    for (const ply of match.plies) {
      if (ply.place !== null) {
        this.track.append(svg("circle", { cx: x(ply.place), cy: 10, r: 5, class: `seat${ply.seat}` }));
      }
    }
    for (const number of [0, end]) {
      const place = { x: number === 0 ? 2 : width - 2, y: 31, "text-anchor": number === 0 ? "start" : "end" };
      this.track.append(svg("text", place, String(number)));
    }
  }
}
