// Setting up a position by hand.

import { at, check, checked } from "./drawing.js";
import { RESULT_SCALE } from "./values.js";

const NEXT = { 0: 1, 1: -1, "-1": 0 };

export class Setup {
  // use(position): begins a match there; change(isOpen): called when setting up begins, and when it ends.
  constructor(use, change) {
    Object.assign(this, { use, change, board: null, squares: null });
    at("setup").addEventListener("toggle", () => (at("setup").open ? this.#begin() : this.#end()));
    at("setup-use").addEventListener("click", () => this.use({ squares: [...this.squares], to_move: Number(checked("to-move")) }));
    at("setup-clear").addEventListener("click", () => this.#change(this.squares.map(() => 0)));
    at("setup-cancel").addEventListener("click", () => this.cancel());
    document.querySelectorAll("input[name=to-move]").forEach((radio) => radio.addEventListener("change", () => this.show()));
  }

  // match(): the current match, or null.
  open(game, board, match) {
    this.cancel();
    Object.assign(this, { game, board, match });
    at("setup").hidden = !game.can_be_set_up;
    document.querySelectorAll("#setup-turn span").forEach((span, seat) => {
      span.textContent = `${game.seat_names[seat]} moves next`;
    });
  }

  cancel() {
    at("setup").open = false;
    this.#end();
  }

  #begin() {
    const match = this.match();
    const position = match ?? { squares: this.board.cells.map(() => 0), to_move: 0 };
    check("to-move", position.to_move ?? 0);
    this.board.isEdited = true;
    this.change(true);
    this.#change([...position.squares]);
  }

  #end() {
    if (this.squares !== null) {
      this.squares = null;
      this.board.isEdited = false;
      this.change(false);
    }
  }

  #change(squares) {
    this.squares = squares;
    this.show();
  }

  // Called when a square is clicked.
  turn(square) {
    this.squares[square] = NEXT[this.squares[square]];
    this.show();
  }

  show() {
    const match = { squares: this.squares, plies: [], legal: [], winning_squares: [] };
    const nothing = { values: new Map(), shares: new Map(), words: new Map(), results: new Map(), scale: RESULT_SCALE };
    this.board.show({ match, ...nothing, isOpen: false, hint: null, hintAction: null });
  }
}
