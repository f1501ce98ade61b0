// Setting up a position by hand, for two people, so that the values of both sides are shown.

import { replace } from "./actions.js";
import { at, check, checked, clicked, radios } from "./drawing.js";
import { select } from "./players.js";
import { opened, position, state } from "./state.js";
import { RESULT_SCALE } from "./values.js";
import { fail } from "./words.js";

/** @type {Record<number, number>} */
const NEXT = { 0: 1, 1: -1, "-1": 0 };

// The stones on the board while it is set up.
/** @type {number[]} */
let squares = [];

// Called when a game is opened.
/** @type {(game: GameView) => void} */
export function open(game) {
  at("setup").hidden = !game.can_be_set_up;
  radios("to-move").forEach((radio, seat) => {
    radio.nextElementSibling.textContent = `${game.seat_names[seat]} moves next`;
  });
  close();
}

function begin() {
  const empty = { squares: state.board.cells.map(() => 0), to_move: 0 };
  const shown = state.match === null ? empty : position();
  check("to-move", shown.to_move ?? 0);
  state.isEdited = true;
  state.render();
  draw(shown.squares);
}

function close() {
  at("setup").open = false;
  state.isEdited = false;
  // What is wrong with the position on the board is no longer of interest.
  fail(null);
  state.render();
}

// Called when a square is clicked.
/** @type {(square: number) => void} */
export const turn = (square) => draw(squares.with(square, NEXT[squares[square]]));

/** @type {(stones: number[]) => void} */
function draw(stones) {
  squares = stones;
  const match = { squares, plies: [], legal: [], winning_squares: [] };
  state.board.show({ match, known: new Map(), scale: RESULT_SCALE, isOpen: false, isEdited: true, hint: null, ghost: null });
}

async function use() {
  /** @type {any} */
  const start = { squares, to_move: Number(checked("to-move")) };
  await replace({ person: "both", partner: null, position: start });
  if (at("error").hidden) {
    select(opened().match);
    close();
  }
}

at("setup").addEventListener("toggle", () => (at("setup").open ? begin() : close()));
clicked("setup-use", use);
clicked("setup-clear", () => draw(squares.map(() => 0)));
clicked("setup-cancel", close);
