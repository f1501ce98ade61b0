// Why a click on the board does nothing, in a sentence.

import { areWatching } from "./address.js";
import { canVary, cursor, onBoard, opened, state } from "./state.js";
import { capital, isThinking } from "./words.js";

// chosen: the square of the stone that is to be moved; null without one.
/** @type {(square: number, chosen: number | null) => string} */
export function whyIllegal(square, chosen) {
  const { answer, isBusy, exercise } = opened();
  if (state.answer === null) {
    return "No match is open. Press New match.";
  }
  if (exercise === null && cursor() < answer.plies.length) {
    return canVary() ? whyNot(square, chosen) : `This is the position before move ${cursor() + 1}; » shows the last one.`;
  }
  if (answer.is_over) {
    return exercise === null ? `The match is over. ${answer.result}` : whyNot(square, chosen);
  }
  if (areWatching(answer.people)) {
    return "You watch this match: Step or Run makes the next move.";
  }
  return isBusy || !answer.awaits_person ? `It is not your turn: ${isThinking(answer, answer.to_move ?? 0)}` : whyNot(square, chosen);
}

// The same for a person who has to move.
/** @type {(square: number, chosen: number | null) => string} */
function whyNot(square, chosen) {
  const { game } = opened();
  const { squares, marks, ko, seat_names: names, to_move: seat } = onBoard();
  const [name, stone] = [game.square_names[square], squares?.[square] ?? 0];
  if (game.unused_squares.includes(square)) {
    return "This square does not belong to the board.";
  }
  if (game.draws_lines) {
    return marks?.[square] ? "This line is drawn already." : "Click between two dots to draw a line.";
  }
  if (game.drops_stones) {
    return `${capital(name.split(",")[0])} is full.`;
  }
  if (game.moves_stones) {
    return whyNoMove(name, stone * (seat === 0 ? 1 : -1), chosen === null ? null : game.square_names[chosen], names[seat ?? 0]);
  }
  if (stone !== 0) {
    return `${name} is occupied.`;
  }
  const because = ko === square ? "That would repeat the position (ko): play elsewhere first." : game.why_illegal;
  return `${name} is not legal. ${because}`.trim();
}

// stone: 1 for one of the person's; chosen: the name of the square of the stone that is to be moved; colour: the person's.
/** @type {(name: string, stone: number, chosen: string | null, colour: string) => string} */
function whyNoMove(name, stone, chosen, colour) {
  if (chosen !== null) {
    return `The stone on ${chosen} cannot move to ${name}.`;
  }
  if (stone === 0) {
    return `${name} is empty: click one of your stones first.`;
  }
  return stone > 0 ? `The stone on ${name} cannot move now.` : `The stone on ${name} is not yours: you play ${colour}.`;
}
