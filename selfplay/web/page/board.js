// The board: squares that can be clicked, reached with the arrow keys, and read by a screen reader.

import { ActionButtons } from "./buttons.js";
import { element } from "./drawing.js";
import { ColumnHeads, edgesOf } from "./edges.js";
import { knownOf, stoneOf, valueInWords, valueLabel } from "./stones.js";
import { extremes, goodness, paint, unpaint } from "./values.js";

export class Board {
  // play(action) is called when the person chooses a legal action; edit(square), while `isEdited`, for any square.
  constructor(place, game, play, edit) {
    Object.assign(this, { game, play, edit, isEdited: false, actions: new Map(), moves: new Map(), focused: 0, chosen: null });
    // Buttons for actions without a square, such as a pass.
    this.others = new ActionButtons(play);
    place.style.setProperty("--rows", game.rows);
    // The width in squares.
    place.style.setProperty("--columns", game.columns + (game.is_rhombus ? (game.rows - 1) / 2 : 0));
    place.replaceChildren(this.build(), this.others.group);
  }

  build() {
    const { rows, columns, stone_colours: colours } = this.game;
    this.cells = [];
    const edges = edgesOf(this.game);
    this.heads = edges.isColumns ? new ColumnHeads(columns) : null;
    const board = element("div", {
      class: `board ${colours ? "discs" : "signs"}${edges.isColumns ? " falling" : ""}${this.game.moves_stones ? " moving" : ""}${this.game.is_rhombus ? " rhombus" : ""}`,
      "data-first": colours?.[0],
      role: "grid",
      "aria-label": `${this.game.title} board`,
      "aria-rowcount": rows,
      "aria-colcount": columns,
    });
    board.addEventListener("keydown", (event) => this.move(event));
    board.addEventListener("focusout", () => {
      this.isByPointer = false;
    });
    board.addEventListener("pointermove", (event) => this.point(event.target.closest(".cell")));
    board.addEventListener("pointerleave", () => this.point(null));
    for (let row = 0; row < rows; row += 1) {
      const line = element("div", { role: "row", "aria-rowindex": row + 1 });
      line.style.setProperty("--row", row);
      for (let column = 0; column < columns; column += 1) {
        line.append(this.buildCell(row * columns + column, column));
      }
      board.append(line);
    }
    if (edges.isColumns) {
      board.append(element("div", { class: "plate", "aria-hidden": "true" }));
    }
    return edges.around(board, this.heads);
  }

  buildCell(square, column) {
    const cell = element("button", {
      type: "button",
      role: "gridcell",
      class: "cell",
      "aria-colindex": column + 1,
      tabindex: square === 0 ? "0" : "-1",
      "data-square": square,
    });
    cell.addEventListener("click", (event) => {
      this.focus(square, false);
      this.isByPointer = event.detail > 0;
      if (this.isEdited) {
        this.edit(square);
      } else if (this.actions.has(square)) {
        this.play(this.actions.get(square).action);
      } else if (this.moves.has(square)) {
        this.chosen = square === this.chosen ? null : square;
        this.show(this.shown);
      }
    });
    this.cells.push(cell);
    return cell;
  }

  // Marks all squares that choose the same action as the one under the pointer.
  point(cell) {
    const pointed = cell && this.actions.get(Number(cell.dataset.square))?.pointed;
    const marked = new Set(pointed?.length > 1 ? pointed : []);
    this.cells.forEach((one, square) => one.classList.toggle("pointed", marked.has(square)));
    this.heads?.point(marked.size > 0 ? Number(cell.dataset.square) % this.game.columns : null);
  }

  focus(square, moves = true) {
    this.cells[this.focused].tabIndex = -1;
    this.focused = square;
    this.cells[square].tabIndex = 0;
    if (moves) {
      this.cells[square].focus();
    }
  }

  move(event) {
    const { rows, columns } = this.game;
    const row = Math.floor(this.focused / columns);
    const column = this.focused % columns;
    const goals = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, columns - 1],
    };
    const goal = goals[event.key];
    // After a click with a pointer, the arrows step through the moves.
    if (!goal || event.ctrlKey || event.altKey || event.metaKey || this.isByPointer) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (goal[0] >= 0 && goal[0] < rows && goal[1] >= 0 && goal[1] < columns) {
      this.focus(goal[0] * columns + goal[1]);
    }
  }

  // shown: {match, values: Map of action to value, shares: Map of action to its percentage of the simulations,
  // words: Map of action to the value in words, results: Map of action to its result, scale, isOpen, hint}
  show(shown) {
    const { match, values, scale } = shown;
    const last = match.plies.at(-1);
    const range = extremes(values, scale);
    const shownLegal = this.findActions(shown);
    this.others.show(match.legal.filter((a) => a.pointed.length === 0), shown, range);
    this.heads?.show(shown, range);
    const won = new Set(match.winning_squares);
    this.cells.forEach((cell, square) => {
      const isNew = last?.square === square;
      const marks = { isNew, isTurned: !isNew && Boolean(last?.turned.includes(square)), isWon: won.has(square) };
      this.showCell(cell, square, shownLegal.get(square), shown, range, marks);
    });
  }

  // The legal actions by the squares on which their values are shown; also sets the actions that a click plays.
  // Where stones move, those are the stones with their best move, until one is chosen; then the targets of that one.
  findActions(shown) {
    const { match, values, isOpen } = shown;
    const { legal, squares } = match;
    if (!this.game.moves_stones) {
      this.actions = new Map(isOpen ? legal.flatMap((a) => a.pointed.map((square) => [square, a])) : []);
      return new Map(legal.filter((a) => a.square !== null).map((a) => [a.square, a]));
    }
    if (squares.join() !== this.shown?.match.squares.join()) {
      this.chosen = null;
    }
    this.shown = shown;
    const worth = (one) => values.get(one.action) ?? -Infinity;
    const fromWorst = legal.toSorted((one, other) => worth(one) - worth(other));
    this.moves = new Map(fromWorst.map((one) => [one.pointed.find((square) => square !== one.square), one]));
    const targets = new Map(legal.filter((a) => a.pointed.includes(this.chosen)).map((a) => [a.square, a]));
    this.actions = isOpen ? targets : new Map();
    return this.chosen === null ? this.moves : targets;
  }

  showCell(cell, square, legal, shown, range, marks) {
    const { match, values, scale } = shown;
    const hinted = this.game.moves_stones
      ? match.legal.some((one) => one.action === shown.hintAction && one.pointed.includes(square))
      : shown.hint === square;
    const known = legal ? knownOf(legal.action, shown) : null;
    const has = { legal, last: marks.isNew, won: marks.isWon, hinted };
    has.best = known?.value !== undefined && known.value === range.best && values.size > 1;
    Object.entries(has).forEach(([name, is]) => cell.classList.toggle(name, Boolean(is)));
    const label = known === null || this.heads !== null ? null : valueLabel(known, scale);
    this.redraw(cell, match.squares[square], marks, label);
    unpaint(cell);
    if (known !== null) {
      paint(cell, goodness(known, scale, range));
    }
    const said = [
      [true, this.game.square_names[square]],
      [true, this.stoneName(match.squares[square])],
      ...(known === null ? [] : valueInWords(known, scale).map((text) => [true, text])),
      [marks.isNew, "last move"],
      [marks.isTurned, "just turned"],
      [marks.isWon, "in the winning line"],
      [hinted, "hint"],
    ];
    cell.setAttribute("aria-label", said.filter(([is]) => is).map(([, text]) => text).join(", "));
    cell.setAttribute("aria-disabled", String(!this.isEdited && !this.actions.has(square) && !this.moves.has(square)));
    if (this.game.moves_stones) {
      cell.setAttribute("aria-selected", String(square === this.chosen));
    }
  }

  // Redraws a square only if it has changed; otherwise the animation of a turned disc would start again.
  redraw(cell, stone, marks, value) {
    const drawn = JSON.stringify([stone, value?.outerHTML, marks.isNew, marks.isTurned]);
    if (cell.dataset.drawn !== drawn) {
      cell.dataset.drawn = drawn;
      const stones = stone === 0 ? [] : [stoneOf(this.game, stone === 1 ? 0 : 1, marks)];
      cell.replaceChildren(...stones, ...(value === null ? [] : [value]));
    }
  }

  stoneName(stone) {
    return stone === 0 ? "empty" : this.game.seat_names[stone === 1 ? 0 : 1];
  }
}
