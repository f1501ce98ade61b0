// The evaluation bar: how well the player at the bottom of the board stands.

import { element } from "./drawing.js";

// The points at which the bar is three quarters full, and the value without a unit at which it is.
const [QUARTER_POINTS, QUARTER_VALUE] = [6, 100];

// The share of the bar that a value is worth, from a certain loss (-1) to a certain win (1), for the player whose value it is.
// kind: as in a judgement, "results" (1, 0, -1), "scores" (above 0 won) or "points" (by which the match is won, known or
// expected); null: an estimate with a neutral value and the largest difference from it (null: unlimited).
/** @type {(value: number, scale: {kind?: string | null, neutral?: number, span?: number | null}) => number} */
export function shareOf(value, { kind = null, neutral = 0, span = 1 }) {
  if (kind === "results" || kind === "scores") {
    return Math.sign(value);
  }
  const lead = value - (kind === null ? neutral : 0);
  if (kind === null && span !== null) {
    return Math.max(-1, Math.min(1, lead / span));
  }
  return lead / (Math.abs(lead) + (kind === null ? QUARTER_VALUE : QUARTER_POINTS));
}

// A bar as high as its place. share: from -1 to 1, for the player at the bottom; null if it is not known. text: the value.
// short: what is written on the bar.
// bottom, top: the classes that colour the sides (seat0, seat1, black, white, red, yellow).
/** @type {(shown: {share: number | null, text: string, short?: string, bottom?: string, top?: string}) => any} */
export function evaluationBar({ share, text, short = text, bottom = "seat0", top = "seat1" }) {
  const made = element(
    "div",
    { class: `bar ${top}`, role: "img", "aria-label": share === null ? "Not evaluated" : `Evaluation for the player below: ${text}` },
    element("span", { class: `level ${bottom}` }),
    element("span", { class: "middle" }),
    element("b", { class: (share ?? 0) < 0 ? `text ${top} at-top` : `text ${bottom}` }, share === null ? "" : short),
  );
  made.style.setProperty("--share", String(share ?? 0));
  return made;
}
