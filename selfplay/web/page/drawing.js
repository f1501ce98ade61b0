// Helpers of all views: elements and text.

export const at = (id) => document.getElementById(id);
// The value of the selected radio button of a group.
export const checked = (name) => document.querySelector(`input[name=${name}]:checked`).value;

export function check(name, value) {
  document.querySelector(`input[name=${name}][value="${value}"]`).checked = true;
}

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

// Typesets powers of ten: 1.1 x 10^18 becomes 1.1 × 10¹⁸.
export function printed(text) {
  return text.replace(/ x 10\^(\d+)/g, (_, power) => ` × 10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
}
