// The content of a square: its stone, and the value of playing there.

import { element, svg } from "./drawing.js";
import { shortText, valueText } from "./values.js";

// A value, above its share of the simulations if there is one; of either there may be none. The label has a shorter
// text for small squares, and a second line ("in 8", "by 6") for large ones.
export function valueLabel({ value, share, words }, scale) {
  const short = value === undefined ? null : shortText(value, scale);
  const more = words?.match(/ (.+)/)?.[1];
  const title = words ?? (share === undefined ? null : valueInWords({ value, share }, scale).join(", "));
  const texts = value === undefined ? [] : [valueText(value, scale)];
  const shares = share === undefined ? [] : [element("small", { class: "share" }, `${share}%`)];
  return element("span", { class: "value", "data-short": short, "data-more": more, title }, ...texts, ...shares);
}

// The same in words, as parts of a sentence.
export const valueInWords = ({ value, share, words }, scale) => [
  ...(value === undefined || scale.isResult ? [] : [`value ${valueText(value, scale)}`]),
  ...(share === undefined ? [] : [`${share}% of the simulations`]),
  ...(words ? [words] : []),
];

// What is known about an action: {value, share, words}; null if nothing is.
export function knownOf(action, { values, shares, words }) {
  const known = { value: values.get(action), share: shares.get(action), words: words.get(action) };
  return known.value === undefined && known.share === undefined ? null : known;
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
