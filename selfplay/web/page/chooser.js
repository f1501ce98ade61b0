// A list of opponents. A group of numbered ones, such as the levels of a run, is one entry; a slider chooses among them.

import { at, element } from "./drawing.js";

const entryOf = (opponent) => opponent.group ?? opponent.id;

export class Chooser {
  // ids: {list, slider, number, label, about} of the elements.
  constructor(ids) {
    this.parts = Object.fromEntries(Object.entries(ids).map(([part, id]) => [part, at(id)]));
    this.opponents = [];
  }

  // Shows these opponents, with the one with this id chosen if there is one.
  show(opponents, id) {
    this.opponents = opponents;
    const entries = new Map(opponents.map((one) => [entryOf(one), one.group ?? one.label]));
    this.parts.list.replaceChildren(...[...entries].map(([value, label]) => element("option", { value }, label)));
    this.showEntry();
    this.select(id);
  }

  get #numbered() {
    return this.opponents.filter((one) => one.group !== null && one.group === this.parts.list.value);
  }

  // After another entry of the list was chosen.
  showEntry() {
    const choices = this.#numbered;
    this.parts.slider.hidden = choices.length === 0;
    if (choices.length > 0) {
      Object.assign(this.parts.number, { min: 0, max: choices.length - 1 });
      this.parts.number.value = choices.findIndex((one) => one.is_default);
    }
    this.showChosen();
  }

  // After the slider was moved.
  showChosen() {
    const { label, about } = this.chosen ?? { label: "", about: "" };
    this.parts.label.textContent = label;
    this.parts.number.setAttribute("aria-valuetext", label);
    this.parts.about.textContent = about;
  }

  select(id) {
    const one = this.opponents.find((other) => other.id === id);
    if (one !== undefined) {
      this.parts.list.value = entryOf(one);
      this.showEntry();
      this.parts.number.value = this.#numbered.indexOf(one);
      this.showChosen();
    }
  }

  get chosen() {
    const choices = this.#numbered;
    return choices.length > 0 ? choices[Number(this.parts.number.value)] : this.opponents.find((one) => one.id === this.parts.list.value);
  }
}
