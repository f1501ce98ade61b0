// The slider that chooses among numbered opponents, such as the levels of a run.

import { at } from "./drawing.js";

// choices: the numbered opponents, in order; without any the slider is hidden.
export function showSlider(choices) {
  at("slider").hidden = choices.length === 0;
  if (choices.length > 0) {
    Object.assign(at("number"), { min: 0, max: choices.length - 1 });
  }
}

export function moveSlider(number) {
  at("number").value = number;
}

export const sliderPlace = () => Number(at("number").value);

export function labelSlider(label) {
  at("number-label").textContent = label;
  at("number").setAttribute("aria-valuetext", label);
}
