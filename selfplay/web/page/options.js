// The rules of a new match: handicap stones and the options of the game.

import { at, element } from "./drawing.js";

/** @type {GameView | null} */
let game = null;
const EMPTY = "0";

// Called when a game is opened.
/** @type {(opened: GameView) => void} */
export function show(opened) {
  game = opened;
  const numbers = Object.keys(game.handicaps);
  at("options").hidden = numbers.length === 0 && game.options.length === 0;
  const handicap = element("select", { id: "handicap" }, ...[EMPTY, ...numbers].map((number) => element("option", { value: number }, number)));
  const rows = game.options.map(({ name, label, value, is_flag: isFlag }) => {
    const input = element("input", isFlag ? { type: "checkbox", id: `option-${name}` } : { type: "number", step: "0.5", id: `option-${name}`, value });
    input.checked = isFlag && value === 1;
    return element("label", {}, label, " ", input);
  });
  at("option-list").replaceChildren(...(numbers.length > 0 ? [element("label", {}, "Handicap stones ", handicap)] : []), ...rows);
}

// Shows the handicap of a match that has been opened.
/** @type {(position: PositionRequest | null) => void} */
export function showHandicap(position) {
  if (game !== null && at("handicap") !== null) {
    const same = Object.keys(game.handicaps).find((number) => position !== null && startWith(number)?.squares.join() === position.squares.join());
    at("handicap").value = same ?? EMPTY;
  }
}

// The name of the game with the options that are chosen.
export function chosenGame() {
  const changed = (game?.options ?? []).flatMap(({ name, usual, is_flag: isFlag }) => {
    const input = at(`option-${name}`);
    const value = isFlag ? Number(input.checked) : input.value === "" ? usual : Number(input.value);
    return value === usual ? [] : [`_${name}=${value}`];
  });
  return [game?.board, ...changed].join("");
}

// The position in which a match with the chosen handicap begins; null without handicap stones.
export const chosenStart = () => startWith(at("handicap")?.value ?? EMPTY);

/** @type {(number: string) => PositionRequest | null} */
function startWith(number) {
  const stones = game?.handicaps[number] ?? [];
  /** @type {(0 | 1 | -1)[]} */
  const squares = (game?.square_names ?? []).map((_, square) => (stones.includes(square) ? 1 : 0));
  return stones.length === 0 ? null : { squares, to_move: 1 };
}
