// What all views draw with: elements, and values as words and colours.

export const at = (id) => document.getElementById(id);
// The value of the radio button that is chosen, of those with a name.
export const checked = (name) => document.querySelector(`input[name=${name}]:checked`).value;

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A value as short as a square needs it; values without bounds (searches) are whole numbers.
export function valueText(value, scale, decimals = 2) {
  const sign = value < 0 ? "−" : "+";
  const size = Math.abs(value);
  if (scale.span !== null) {
    return scale.neutral === 0 ? `${sign}${size.toFixed(decimals)}` : size.toFixed(decimals);
  }
  return size >= 1000 ? `${sign}${Math.round(size / 1000)}k` : `${sign}${Math.round(size)}`;
}

// Powers of ten as they are printed: 1.1 x 10^18 becomes 1.1 × 10¹⁸.
export function printed(text) {
  return text.replace(/ x 10\^(\d+)/g, (_, power) => ` × 10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
}

// Where a value lies between bad (-1) and good (1).
export function goodness(value, scale, largest) {
  const span = scale.span ?? Math.max(largest, 1e-9);
  return Math.max(-1, Math.min(1, (value - scale.neutral) / span));
}

export function paint(node, good) {
  node.dataset.tone = good > 0.02 ? "good" : good < -0.02 ? "bad" : "even";
  node.style.setProperty("--strength", `${Math.round(18 + 62 * Math.abs(good))}%`);
}

// The largest distance from an even match, and the best value, of those shown on a board.
export function extremes(values, scale) {
  const shown = [...values.values()];
  return { largest: Math.max(0, ...shown.map((value) => Math.abs(value - scale.neutral))), best: Math.max(...shown) };
}
