// The board: squares that can be clicked, reached with the arrow keys, and read by a screen reader.

import { ActionButtons } from "./buttons.js";
import { element } from "./drawing.js";
import { framed, stoneOf } from "./pieces.js";
import { showValue } from "./values.js";

export class Board {
  // play(action) is called when the person chooses a legal action; edit(square), while a position is set up, for any square.
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
    const { rows, columns, title, stone_colours: colours, moves_stones: moves, is_rhombus: isRhombus } = this.game;
    this.cells = [];
    const board = element("div", { role: "grid", "aria-label": `${title} board`, "aria-rowcount": rows, "aria-colcount": columns });
    board.addEventListener("keydown", (event) => this.move(event));
    board.addEventListener("focusout", () => (this.isByPointer = false));
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
    const { frame, heads } = framed(this.game, board);
    this.heads = heads;
    const kinds = { discs: colours, signs: !colours, falling: heads.length > 0, moving: moves, rhombus: isRhombus };
    board.classList.add("board", ...Object.keys(kinds).filter((kind) => kinds[kind]));
    if (heads.length > 0) {
      board.append(element("div", { class: "plate", "aria-hidden": "true" }));
    }
    return frame;
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
    const column = marked.size > 0 ? Number(cell.dataset.square) % this.game.columns : null;
    this.cells.forEach((one, square) => one.classList.toggle("pointed", marked.has(square)));
    this.heads.forEach((head, number) => head.classList.toggle("pointed", number === column));
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

  // shown: {match, known, scale, isOpen, isEdited, hint}; known and scale: see valuesToShow; hint: {action, square} or null.
  show(shown) {
    const { match } = shown;
    this.isEdited = shown.isEdited;
    const last = match.plies.at(-1);
    const legal = this.findActions(shown);
    this.others.show(match.legal.filter((one) => one.pointed.length === 0), shown);
    this.heads.forEach((head, column) => this.showHead(head, column, shown));
    this.cells.forEach((cell, square) => {
      const isNew = last?.square === square;
      const isTurned = !isNew && Boolean(last?.turned.includes(square));
      this.showCell(cell, square, legal.get(square), shown, { isNew, isTurned, isWon: match.winning_squares.includes(square) });
    });
  }

  // The legal actions by the squares on which their values are shown; also sets the actions that a click plays.
  // In games that move stones, these are the stones with their best moves; after a stone is chosen, its targets.
  findActions(shown) {
    const { match, known, isOpen } = shown;
    const { legal, squares } = match;
    if (!this.game.moves_stones) {
      this.actions = new Map(isOpen ? legal.flatMap((a) => a.pointed.map((square) => [square, a])) : []);
      return new Map(legal.filter((a) => a.square !== null).map((a) => [a.square, a]));
    }
    if (squares.join() !== this.shown?.match.squares.join()) {
      this.chosen = null;
    }
    this.shown = shown;
    const worth = ({ action }) => known.get(action)?.value ?? -Infinity;
    const fromWorst = legal.toSorted((one, other) => worth(one) - worth(other));
    this.moves = new Map(fromWorst.map((one) => [one.pointed.find((square) => square !== one.square), one]));
    const targets = new Map(legal.filter((a) => a.pointed.includes(this.chosen)).map((a) => [a.square, a]));
    this.actions = isOpen ? targets : new Map();
    return this.chosen === null ? this.moves : targets;
  }

  // The number of a column, with the value of a stone in it.
  showHead(head, column, shown) {
    const { legal } = shown.match;
    const action = legal.find(({ square }) => square !== null && square % this.game.columns === column)?.action;
    head.replaceChildren(String(column + 1), ...showValue(head, action, shown).label);
    head.parentElement.classList.toggle("valued", shown.known.size > 0);
  }

  showCell(cell, square, legal, shown, { isNew, isTurned, isWon }) {
    const { match, hint } = shown;
    const isHinted = this.game.moves_stones
      ? match.legal.some((one) => one.action === hint?.action && one.pointed.includes(square))
      : hint !== null && hint.square === square;
    const classes = { legal, last: isNew, won: isWon, hinted: isHinted };
    Object.entries(classes).forEach(([name, is]) => cell.classList.toggle(name, Boolean(is)));
    const { label, words } = showValue(cell, legal?.action, shown);
    this.redraw(cell, match.squares[square], { isNew, isTurned }, this.heads.length > 0 ? [] : label);
    const marks = { "last move": isNew, "just turned": isTurned, "in the winning line": isWon, hint: isHinted };
    const said = [this.game.square_names[square], this.stoneName(match.squares[square]), ...words];
    cell.setAttribute("aria-label", [...said, ...Object.keys(marks).filter((mark) => marks[mark])].join(", "));
    cell.setAttribute("aria-disabled", String(!this.isEdited && !this.actions.has(square) && !this.moves.has(square)));
    if (this.game.moves_stones) {
      cell.setAttribute("aria-selected", String(square === this.chosen));
    }
  }

  // Redraws a square only if it has changed; otherwise the animation of a turned disc would start again.
  redraw(cell, stone, marks, label) {
    const drawn = JSON.stringify([stone, marks, label[0]?.outerHTML]);
    if (cell.dataset.drawn !== drawn) {
      cell.dataset.drawn = drawn;
      cell.replaceChildren(...(stone === 0 ? [] : [stoneOf(this.game, stone === 1 ? 0 : 1, marks)]), ...label);
    }
  }

  stoneName(stone) {
    return stone === 0 ? "empty" : this.game.seat_names[stone === 1 ? 0 : 1];
  }
}
