// A list of opponents. A group of numbered ones, such as the levels of a run, is one entry; a slider chooses among them.

import { at, element } from "./drawing.js";

/** @type {(opponent: OfferedPlayer) => string} */
const entryOf = (opponent) => opponent.group ?? opponent.id;

export class Chooser {
  // name: the id of the list; prefix: the start of the ids of its slider, number, number-label and about. changed(): called
  // when another opponent was chosen.
  /**
   * @param {string} name
   * @param {string} prefix
   * @param {() => void} changed
   */
  constructor(name, prefix, changed) {
    this.slider = at(`${prefix}slider`);
    this.number = at(`${prefix}number`);
    this.label = at(`${prefix}number-label`);
    this.about = at(`${prefix}about`);
    this.list = at(name);
    /** @type {OfferedPlayer[]} */
    this.opponents = [];
    this.list.addEventListener("change", () => {
      this.#showEntry();
      changed();
    });
    this.number.addEventListener("input", () => this.#showChosen());
    this.number.addEventListener("change", changed);
  }

  // Shows these opponents, with the one with this id chosen if there is one.
  /** @type {(opponents: OfferedPlayer[], id: string | undefined) => void} */
  show(opponents, id) {
    this.opponents = opponents;
    const entries = new Map(opponents.map((one) => [entryOf(one), one.group ?? one.label]));
    this.list.replaceChildren(...[...entries].map(([value, label]) => element("option", { value }, label)));
    this.#showEntry();
    this.select(id);
  }

  /** @type {(id: string | undefined) => void} */
  select(id) {
    const one = this.opponents.find((other) => other.id === id);
    if (one !== undefined) {
      this.list.value = entryOf(one);
      this.#showEntry();
      this.number.value = this.#choices.indexOf(one);
      this.#showChosen();
    }
  }

  get #choices() {
    return this.opponents.filter((one) => entryOf(one) === this.list.value);
  }

  get chosen() {
    return this.#choices[this.slider.hidden ? 0 : Number(this.number.value)];
  }

  #showEntry() {
    const choices = this.#choices;
    this.slider.hidden = !choices[0]?.group;
    this.number.max = choices.length - 1;
    this.number.value = choices.findIndex((one) => one.is_default);
    this.#showChosen();
  }

  #showChosen() {
    const { label, about } = this.chosen ?? { label: "", about: "" };
    this.label.textContent = label;
    this.number.setAttribute("aria-valuetext", label);
    this.about.textContent = about;
  }
}
