// Buttons for actions without a square, such as a pass, and the view of games without a board.

import { element, svg } from "./drawing.js";
import { showValue } from "./values.js";

export class ActionButtons {
  /**
   * @param {(action: number) => unknown} play
   * @param {string} [label]
   */
  constructor(play, label = "Your actions") {
    this.play = play;
    this.legal = new Set();
    // Buttons are kept when their action becomes illegal, so that they keep the keyboard focus.
    this.buttons = new Map();
    this.group = element("div", { class: "actions", role: "group", "aria-label": label, hidden: true });
    this.group.addEventListener("keydown", (/** @type {any} */ event) => this.move(event));
  }

  /** @type {(legal: ActionDescription[], shown: Choice) => void} */
  show(legal, shown) {
    this.legal = new Set(legal.map(({ action }) => action));
    legal.filter((one) => !this.buttons.has(one.action)).forEach((one) => this.add(one));
    // The squares of an action can depend on the position.
    legal.forEach(({ action, name }) => (this.buttons.get(action).querySelector("b").textContent = name));
    this.group.hidden = this.buttons.size === 0;
    this.isOpen = shown.isOpen;
    this.buttons.forEach((button, action) => this.draw(button, action, shown));
  }

  // Shows buttons for these actions and for no others.
  /** @type {(legal: ActionDescription[], shown: Choice) => void} */
  only(legal, shown) {
    [...this.buttons].filter(([action]) => legal.every((one) => one.action !== action)).forEach(([action, button]) => {
      button.remove();
      this.buttons.delete(action);
    });
    this.show(legal, shown);
  }

  // The key of the only button: the first letter of its action, as p for a pass; null if there are several.
  get key() {
    const [button, ...others] = this.buttons.values();
    return button === undefined || others.length > 0 ? null : button.textContent.charAt(0).toLowerCase();
  }

  click() {
    this.group.querySelector("button")?.click();
  }

  focus() {
    this.group.querySelector("button")?.focus();
  }

  // Inserts the button in the order of the actions.
  /** @type {(one: ActionDescription) => void} */
  add({ action }) {
    const button = element("button", { type: "button", class: "action", "data-action": action }, element("b"));
    button.addEventListener("click", () => this.isOpen && this.legal.has(action) && this.play(action));
    const next = Math.min(...[...this.buttons.keys()].filter((other) => other > action));
    this.group.insertBefore(button, this.buttons.get(next) ?? null);
    this.buttons.set(action, button);
  }

  /** @type {(button: any, action: number, shown: Choice) => void} */
  draw(button, action, shown) {
    const isLegal = this.legal.has(action);
    const name = button.querySelector("b");
    const { label, words } = showValue(button, isLegal ? action : null, shown);
    button.classList.toggle("legal", isLegal);
    button.classList.toggle("hinted", shown.hint === action);
    button.setAttribute("aria-disabled", String(!shown.isOpen || !isLegal));
    if (this.key !== null) {
      button.setAttribute("aria-keyshortcuts", this.key);
    }
    button.setAttribute("aria-label", [name.textContent, ...words].join(", "));
    button.replaceChildren(name, ...label);
  }

  /** @type {(event: any) => void} */
  move(event) {
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
    const step = steps[event.key];
    if (step !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      const buttons = [...this.group.children];
      buttons[buttons.indexOf(document.activeElement) + step]?.focus();
    }
  }
}

export class Buttons {
  /**
   * @param {any} place
   * @param {GameView} game
   * @param {(action: number) => unknown} play
   */
  constructor(place, game, play) {
    this.game = game;
    this.sum = element("output", { class: "sum" });
    this.track = svg("svg", { class: "track", role: "img" });
    this.actions = new ActionButtons(play);
    place.replaceChildren(element("div", { class: "numbers" }, this.sum, this.track, this.actions.group));
  }

  /** @type {(shown: Shown & {match: DrawnNumber}) => void} */
  show(shown) {
    const { match } = shown;
    const { line_label: label, line_end: end } = this.game;
    const sum = [element("span", { class: "quiet" }, label), element("strong", {}, String(match.place))];
    this.sum.replaceChildren(...(label === null ? [element("pre", {}, match.board)] : sum));
    this.drawTrack(match, end);
    this.actions.show(match.legal, shown);
  }

  // A line from the start to the end of the game, with a dot for each ply.
  /** @type {(match: DrawnNumber, end: number | null) => void} */
  drawTrack({ place, plies }, end) {
    this.track.toggleAttribute("hidden", end === null);
    if (end === null || place === null) {
      return;
    }
    // Drawn for the available width, so that the text stays readable on a phone.
    const width = this.track.clientWidth || 440;
    const x = (/** @type {number} */ number) => 10 + ((width - 20) * number) / end;
    this.track.setAttribute("viewBox", `0 0 ${width} 34`);
    this.track.setAttribute("aria-label", `${place} of ${end}`);
    this.track.replaceChildren(
      svg("line", { x1: x(0), x2: x(end), y1: 10, y2: 10 }),
      svg("line", { x1: x(0), x2: x(place), y1: 10, y2: 10, class: "gone" }),
      ...plies.flatMap((ply) => (ply.place === null ? [] : [svg("circle", { cx: x(ply.place), cy: 10, r: 5, class: `ply seat${ply.seat}` })])),
      svg("text", { x: 2, y: 31 }, "0"),
      svg("text", { x: width - 2, y: 31, "text-anchor": "end" }, String(end)),
    );
  }
}
