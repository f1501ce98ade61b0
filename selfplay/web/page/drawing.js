// Helpers of all views: elements and text.

/** @type {(id: string) => any} */
export const at = (id) => document.getElementById(id);
/** @type {(id: string, handler: () => unknown) => void} */
export const clicked = (id, handler) => at(id).addEventListener("click", () => handler());
// The radio buttons of a group, and the value of the one that is selected.
/** @type {(name: string) => any[]} */
export const radios = (name) => [...document.querySelectorAll(`input[name=${name}]`)];
/** @type {(name: string) => any} */
export const checked = (name) => radios(name).find((radio) => radio.checked).value;

// Selects the radio button with this value, and no button if none has it.
/** @type {(name: string, value: unknown) => void} */
export function check(name, value) {
  radios(name).filter((radio) => radio.value === String(value)).forEach((radio) => (radio.checked = true));
}

const SVG = "http://www.w3.org/2000/svg";

/** @type {(name: string, attributes?: Record<string, any>, ...children: any[]) => any} */
export const element = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
/** @type {(name: string, attributes?: Record<string, any>, ...children: any[]) => any} */
export const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

/** @type {(made: Element, attributes: Record<string, any> | undefined, children: any[]) => any} */
function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

// Typesets powers of ten: 1.1 x 10^18 becomes 1.1 × 10¹⁸.
/** @type {(text: string) => string} */
export function printed(text) {
  return text.replace(/ x 10\^(\d+)/g, (_, power) => ` × 10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
}
