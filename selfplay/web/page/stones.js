// The content of a square: its stone, and the value of playing there.

import { element, svg } from "./drawing.js";
import { RESULTS, shortText, valueText } from "./values.js";

// A value, above its share of the simulations or its result with perfect play if there is one. The label has a shorter
// text for small squares, and a second line ("in 8", "by 6") for large ones.
export function valueLabel({ value, share, words, result }, scale) {
  const short = value === undefined ? null : shortText(value, scale);
  const more = words?.match(/ (.+)/)?.[1];
  const title = words ?? (share === undefined ? null : valueInWords({ value, share, result }, scale).join(", "));
  const texts = value === undefined ? [] : [valueText(value, scale)];
  const below = [...(share === undefined ? [] : [`${share}%`]), ...(result === undefined ? [] : [RESULTS[result]])].join(" ");
  const small = below === "" ? [] : [element("small", { class: "share" }, below)];
  return element("span", { class: "value", "data-short": short, "data-more": more, title }, ...texts, ...small);
}

// The same in words, as parts of a sentence.
export const valueInWords = ({ value, share, words, result }, scale) => [
  ...(value === undefined || scale.isResult ? [] : [`value ${valueText(value, scale)}`]),
  ...(share === undefined ? [] : [`${share}% of the simulations`]),
  ...(words ? [words] : []),
  ...(result === undefined ? [] : [`${RESULTS[result]} with perfect play`]),
];

// What is known about an action: {value, share, words, result}; null if nothing is.
export function knownOf(action, { values, shares, words, results }) {
  const [value, share, word, result] = [values, shares, words, results].map((known) => known.get(action));
  return value === undefined && share === undefined ? null : { value, share, words: word, result };
}

// marks: {isNew, isTurned}
export function stoneOf(game, seat, { isNew, isTurned }) {
  if (game.stone_colours) {
    return element("span", { class: `disc ${game.stone_colours[seat]}${isTurned ? " turned" : ""}${isNew ? " new" : ""}` });
  }
  const drawing = svg("svg", { viewBox: "0 0 100 100", class: `sign seat${seat}${isNew ? " new" : ""}`, "aria-hidden": "true" });
  if (game.seat_names[seat] === "X") {
    drawing.append(svg("path", { d: "M24 24L76 76M76 24L24 76" }));
  } else if (game.seat_names[seat] === "O") {
    drawing.append(svg("circle", { cx: 50, cy: 50, r: 28 }));
  } else {
    drawing.append(svg("text", { x: 50, y: 66, "text-anchor": "middle", "font-size": 48 }, game.seat_names[seat]));
  }
  return drawing;
}
