// Helpers of all views: elements, and values as text and colours.

export const at = (id) => document.getElementById(id);
// The value of the selected radio button of a group.
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

// The scale of exact scores, which are integers.
export const EXACT_SCALE = { neutral: 0, span: null, isExact: true };

// A value as short text for a square. Unbounded values (of searches) are integers.
export function valueText(value, scale, decimals = 2) {
  if (scale.isExact && value === 0) {
    return "0";
  }
  const sign = value < 0 ? "−" : "+";
  const size = Math.abs(value);
  if (scale.span !== null) {
    return scale.neutral === 0 ? `${sign}${size.toFixed(decimals)}` : size.toFixed(decimals);
  }
  return size >= 1000 ? `${sign}${Math.round(size / 1000)}k` : `${sign}${Math.round(size)}`;
}

// Typesets powers of ten: 1.1 x 10^18 becomes 1.1 × 10¹⁸.
export function printed(text) {
  return text.replace(/ x 10\^(\d+)/g, (_, power) => ` × 10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
}

// A value on a scale from bad (-1) to good (1).
export function goodness(value, scale, largest) {
  if (scale.isExact) {
    // Every win differs clearly from a draw.
    return Math.sign(value) * (0.4 + (0.6 * Math.abs(value)) / Math.max(largest, 1));
  }
  const span = scale.span ?? Math.max(largest, 1e-9);
  return Math.max(-1, Math.min(1, (value - scale.neutral) / span));
}

export function paint(node, good) {
  node.dataset.tone = good > 0.02 ? "good" : good < -0.02 ? "bad" : "even";
  node.style.setProperty("--strength", `${Math.round(18 + 62 * Math.abs(good))}%`);
}

// The share of the opponent's simulations that each legal action has, in percent; empty if it does not search a tree.
export function sharesOfVisits(match) {
  const counted = match.legal.filter((one) => one.visits !== null);
  const total = counted.reduce((sum, one) => sum + one.visits, 0);
  return new Map(total === 0 ? [] : counted.map((one) => [one.action, Math.round((100 * one.visits) / total)]));
}

// A value, above its share of the simulations if there is one. Of either there may be none.
export function valueLabel(value, share, scale, attributes) {
  const texts = value === undefined ? [] : [valueText(value, scale)];
  const shares = share === undefined ? [] : [element("small", { class: "share" }, `${share}%`)];
  return element("span", { class: "value", ...attributes }, ...texts, ...shares);
}

// The same in words, as parts of a sentence.
export const valueInWords = (value, share, scale) => [
  ...(value === undefined ? [] : [`value ${valueText(value, scale)}`]),
  ...(share === undefined ? [] : [`${share}% of the simulations`]),
];

// The largest difference from the neutral value, and the best value, of those shown on a board.
export function extremes(values, scale) {
  const shown = [...values.values()];
  return { largest: Math.max(0, ...shown.map((value) => Math.abs(value - scale.neutral))), best: Math.max(...shown) };
}
