// Helpers of all views: elements and text.

export const at = (id) => document.getElementById(id);
// The value of the selected radio button of a group.
export const checked = (name) => document.querySelector(`input[name=${name}]:checked`).value;

export function check(name, value) {
  document.querySelector(`input[name=${name}][value="${value}"]`).checked = true;
}

const SVG = "http://www.w3.org/2000/svg";

export const element = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

function filled(made, attributes = {}, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

// Typesets powers of ten: 1.1 x 10^18 becomes 1.1 × 10¹⁸.
export function printed(text) {
  return text.replace(/ x 10\^(\d+)/g, (_, power) => ` × 10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
}
