// The board: squares that can be clicked, reached with the arrow keys, and read by a screen reader.

import { ActionButtons } from "./buttons.js";
import { showCell, showHead } from "./cells.js";
import { element } from "./drawing.js";
import { sizeOf } from "./geometry.js";
import { ground, Marks } from "./marks.js";
import { framed } from "./pieces.js";
import { markText, stoneOf } from "./view.js";

// What changes in a match by an action of the person before the server has answered: the stone or mark that it puts on a square,
// if it is known to put nothing else there. Without the rules, the page does not know what else changes.
/** @type {(game: GameView, match: MatchView, action: number) => Partial<Drawn> & {legal: ActionDescription[]}} */
export function foreseen({ moves_stones: movesStones, draws_lines: drawsLines, square_marks: texts }, match, action) {
  const { square = null, content = null, pointed = [] } = match.legal.find((one) => one.action === action) ?? {};
  if (match.squares === null || square === null || (content === null && !drawsLines)) {
    return { legal: [] };
  }
  if (content === null || drawsLines) {
    return { marks: match.marks?.with(square, "line"), legal: [] };
  }
  const left = movesStones ? pointed.filter((other) => other !== square) : [];
  /** @type {<Part>(parts: Part[], put: Part, empty: Part) => Part[]} */
  const changed = (parts, put, empty) => parts.map((one, number) => (number === square ? put : left.includes(number) ? empty : one));
  return {
    squares: changed(match.squares, stoneOf(content), 0),
    marks: match.marks && changed(match.marks, markText(texts, content), ""),
    ko: null,
    legal: [],
    plies: [...match.plies, { square, origin: left[0] ?? null, turned: [] }],
  };
}

// The square that the stone of a move leaves.
/** @type {(one: ActionDescription) => number} */
const sourceOf = ({ square, pointed }) => pointed[pointed[0] === square ? 1 : 0];
/** @type {(mark: Mark | null, square: number) => boolean} */
const isMarked = (mark, square) => mark !== null && (mark.from === square || mark.to === square);

// What the letters of marks mean that are on the board.
/** @type {(game: BoardGame, match: Drawn) => string} */
function legendOf({ draws_lines: drawsLines, stone_colours: colours, square_marks: texts, mark_signs: signs }, { marks }) {
  const used = texts.filter((text) => marks?.some((mark) => mark.split(", ").includes(text)));
  return drawsLines || colours !== null ? "" : used.map((text) => `${signs[texts.indexOf(text)]} ${text}`).join(", ");
}

// The moves after a hint that are marked, too.
const FOLLOWING = 3;
// From this width in squares on, narrow windows show a part of the board.
const LARGE = 11;

export class Board {
  // Set in the constructor and by build.
  /** @type {BoardGame} */
  game;
  /** @type {(action: number) => unknown} */
  play;
  /** @type {(square: number) => unknown} */
  edit;
  /** @type {(square: number, chosen: number | null) => unknown} */
  refuse;
  /** @type {any[]} */
  cells = [];
  /** @type {any[]} */
  heads = [];
  /** @type {any[]} */
  lines = [];
  /** @type {Shown | undefined} */
  shown;
  // For each square: the actions that a click on it takes, and the moves of the stone on it.
  /** @type {Map<number, ActionDescription[]>} */
  actions = new Map();
  /** @type {Map<number, ActionDescription[]>} */
  moves = new Map();
  // A stone that is to be moved.
  /** @type {number | null} */
  chosen = null;
  // The actions among which the person has to choose, because a click could mean each of them.
  /** @type {ActionDescription[]} */
  asked = [];
  /** @type {(isTurned: boolean) => void} */
  turnNames = () => {};
  /** @type {any} */
  marks;
  focused = 0;
  isEdited = false;
  isTurned = false;
  isByPointer = false;

  // play(action) is called when the person chooses a legal action; edit(square), while a position is set up, for any square;
  // refuse(square, chosen), when a click does nothing, with the square of the stone that is to be moved, or null.
  /**
   * @param {any} place
   * @param {BoardGame} game
   * @param {(action: number) => unknown} play
   * @param {(square: number) => unknown} edit
   * @param {(square: number, chosen: number | null) => unknown} refuse
   */
  constructor(place, game, play, edit, refuse) {
    this.game = game;
    this.play = play;
    this.edit = edit;
    this.refuse = refuse;
    // Buttons for actions without a square, such as a pass, and for the actions that are asked about.
    this.others = new ActionButtons(play);
    this.questions = new ActionButtons(play, "Which move?");
    this.questions.group.classList.add("questions");
    const { width, height } = sizeOf(game);
    place.style.setProperty("--rows", height);
    place.style.setProperty("--columns", width);
    this.legend = element("p", { class: "quiet legend" });
    place.replaceChildren(this.build(), this.legend, this.questions.group, this.others.group);
  }

  build() {
    const { rows, columns, title, stone_colours: colours, moves_stones: moves, is_rhombus: isRhombus, is_on_crossings: isOnCrossings, draws_lines: drawsLines } = this.game;
    const board = element("div", { role: "grid", "aria-label": `${title} board`, "aria-rowcount": rows, "aria-colcount": columns });
    board.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.move(event));
    board.addEventListener("focusout", () => (this.isByPointer = false));
    board.addEventListener("pointermove", (/** @type {any} */ event) => this.point(event.target.closest(".cell")));
    board.addEventListener("pointerleave", () => this.point(null));
    this.cells = [...Array(rows * columns).keys()].map((square) => this.buildCell(square));
    this.lines = [...Array(rows).keys()].map((row) => element("div", { role: "row", "aria-rowindex": row + 1 }));
    this.lines.forEach((line, row) => {
      line.style.setProperty("--row", row);
      line.style.setProperty("--rows-below", rows - 1 - row);
    });
    board.append(...(isRhombus || isOnCrossings ? [ground(this.game)] : []), ...this.lines);
    const { frame, heads, turn } = framed(this.game, board);
    Object.assign(this, { heads, turnNames: turn });
    frame.classList.toggle("large", sizeOf(this.game).width >= LARGE);
    /** @type {Record<string, unknown>} */
    const kinds = { discs: colours, signs: !colours, falling: heads.length > 0, moving: moves, rhombus: isRhombus, crossings: isOnCrossings, lined: drawsLines };
    board.classList.add("board", ...Object.keys(kinds).filter((kind) => kinds[kind]));
    if (heads.length > 0) {
      board.append(element("div", { class: "plate", "aria-hidden": "true" }));
    }
    this.marks = new Marks(this.game, (square) => this.placeOf(square), heads.length > 0);
    board.append(this.marks.drawing);
    this.arrange();
    return frame;
  }

  // Puts the squares into their places. The keyboard begins at the first one that is on the board, unless a square has the
  // focus, which it would lose by being put elsewhere.
  arrange() {
    const focused = this.cells.indexOf(document.activeElement);
    this.lines.forEach((line, row) => {
      const squares = this.cells.slice(0, this.game.columns).map((_, column) => this.cells[this.squareAt(row, column)]);
      squares.forEach((cell, column) => cell.setAttribute("aria-colindex", column + 1));
      line.replaceChildren(...squares);
    });
    this.turnNames(this.isTurned);
    const places = [...this.cells.keys()].map((place) => (this.isTurned ? this.cells.length - 1 - place : place));
    const first = places.find((square) => !this.game.unused_squares.includes(square)) ?? places[0];
    this.focus(focused < 0 ? first : focused, focused >= 0);
  }

  // Where a square is drawn, and which one is drawn there.
  /** @type {(square: number) => Point} */
  placeOf(square) {
    const place = this.isTurned ? this.cells.length - 1 - square : square;
    return [Math.floor(place / this.game.columns), place % this.game.columns];
  }

  /** @type {(row: number, column: number) => number} */
  squareAt(row, column) {
    const place = row * this.game.columns + column;
    return this.isTurned ? this.cells.length - 1 - place : place;
  }

  /** @type {(square: number) => any} */
  buildCell(square) {
    const cell = element("button", {
      type: "button",
      role: "gridcell",
      class: "cell",
      tabindex: "-1",
      "data-square": square,
    });
    cell.classList.toggle("unused", this.game.unused_squares.includes(square));
    cell.classList.add(...this.kindOf(square));
    if (/^\d+$/.test(this.game.square_names[square])) {
      cell.dataset.name = this.game.square_names[square];
    }
    cell.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      this.focus(square, false);
      this.isByPointer = event.detail > 0;
      if (this.isEdited) {
        this.edit(square);
      } else {
        this.click(square);
      }
    });
    return cell;
  }

  // On a board of lines: whether a square is a dot, a box, or the place of a line, and in which direction.
  /** @type {(square: number) => string[]} */
  kindOf(square) {
    const [isLow, isRight] = [Math.floor(square / this.game.columns) % 2, (square % this.game.columns) % 2];
    return this.game.draws_lines ? [isLow === isRight ? (isLow ? "box" : "dot") : isRight ? "across" : "down"] : [];
  }

  // Takes the only action of the square, asks which one, or chooses the stone on it.
  /** @type {(square: number) => void} */
  click(square) {
    const actions = this.actions.get(square) ?? [];
    const moves = this.chosen === null ? (this.moves.get(square) ?? []) : [];
    if (actions.length === 1 && moves.length === 0) {
      this.play(actions[0].action);
      return;
    }
    if (actions.length === 0 && !this.moves.has(square)) {
      this.refuse(square, this.chosen);
    }
    const isStone = this.moves.has(square) && actions.length === 0;
    this.chosen = isStone && square !== this.chosen ? square : null;
    this.asked = isStone ? [] : [...actions, ...moves];
    if (this.shown !== undefined) {
      this.show(this.shown);
    }
    this.questions.focus();
  }

  // Marks all squares that choose the same action as the one under the pointer.
  /** @type {(cell: any) => void} */
  point(cell) {
    const actions = (cell && this.actions.get(Number(cell.dataset.square))) ?? [];
    const marked = new Set(actions.length === 1 && !this.isMove(actions[0]) && actions[0].pointed.length > 1 ? actions[0].pointed : []);
    const column = marked.size > 0 ? Number(cell.dataset.square) % this.game.columns : null;
    this.cells.forEach((one, square) => one.classList.toggle("pointed", marked.has(square)));
    this.heads.forEach((head, number) => head.classList.toggle("pointed", number === column));
  }

  /** @type {(square: number, moves?: boolean) => void} */
  focus(square, moves = true) {
    this.cells[this.focused].tabIndex = -1;
    this.focused = square;
    this.cells[square].tabIndex = 0;
    if (moves) {
      this.cells[square].focus();
    }
  }

  /** @type {(event: KeyboardEvent) => void} */
  move(event) {
    const { rows, columns } = this.game;
    const [row, column] = this.placeOf(this.focused);
    /** @type {Record<string, Point>} */
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
      this.focus(this.squareAt(...goal));
    }
  }

  // shown: {match, known, scale, isOpen, isEdited, hint, ghost, line}; known and scale: see valuesToShow; hint,
  // ghost: a legal action that is marked, and one that is shown faintly, or null; line: the squares of those after the hint.
  /** @type {(shown: Shown) => void} */
  show(shown) {
    const { match, hint, ghost } = shown;
    this.isEdited = shown.isEdited;
    this.turnFor(match);
    const last = match.plies.at(-1);
    const isNewPly = match.plies.length !== this.shown?.match.plies.length;
    const legal = this.findActions(shown);
    this.questions.only(this.asked, shown);
    this.legend.textContent = [legendOf(this.game, match), match.numbers].filter(Boolean).join("; ");
    this.others.show(match.legal.filter((one) => one.pointed.length === 0), shown);
    this.heads.forEach((head, column) => showHead(this.game, head, column, shown));
    const marked = { ghost: this.toMark(match, ghost), hint: this.toMark(match, hint) };
    this.marks.show([...this.following(shown.line ?? []), ...Object.entries(marked).flatMap(([kind, mark]) => (mark === null || (kind === "ghost" && mark.from === null) ? [] : [{ kind, ...mark }]))]);
    this.cells.forEach((cell, square) => {
      const isNew = last?.square === square;
      const isLeft = last?.origin === square;
      const isTurned = !isNew && Boolean(last?.turned.includes(square));
      showCell(this, cell, square, legal.get(square), shown, {
        isNew,
        isLeft,
        isTurned,
        isWon: match.winning_squares.includes(square),
        isHinted: isMarked(marked.hint, square),
        isGhost: isMarked(marked.ghost, square),
        owner: match.owners?.[square] ?? shown.territory?.[square] ?? 0,
        isGhostStone: match.squares[square] === 0 && !this.game.draws_lines && (marked.ghost?.to === square || (marked.hint?.from === null && marked.hint.to === square)),
      });
    });
    const revealed = marked.hint?.to ?? (isNewPly ? last?.square : null) ?? null;
    if (revealed !== null) {
      this.reveal(revealed);
    }
  }

  // The marks of the moves after a hint, of the later ones first, which lie below the others.
  /** @type {(line: number[][]) => (Mark & {kind: string})[]} */
  following(line) {
    const marks = line.slice(0, FOLLOWING).flatMap((squares, place) => {
      const from = squares.length > 1 ? squares[0] : null;
      return squares.length === 0 ? [] : [{ kind: "line", from, to: squares[squares.length - 1], number: place + 2 }];
    });
    return marks.reverse();
  }

  // Scrolls a large board until this square can be seen.
  /** @type {(square: number) => void} */
  reveal(square) {
    const [cell, frame] = [this.cells[square], this.cells[square].closest(".large")];
    const [seen, whole] = [cell, frame].map((one) => one?.getBoundingClientRect());
    if (frame !== null && (seen.left < whole.left || seen.right > whole.right)) {
      frame.scrollLeft += (seen.left + seen.right - whole.left - whole.right) / 2;
    }
  }

  // While a position is set up, nobody plays, and the board stays as it is.
  /** @type {(match: Drawn) => void} */
  turnFor({ person_seat: seat }) {
    const isTurned = this.isEdited ? this.isTurned : this.game.turns_for_second && seat === 1;
    if (isTurned !== this.isTurned) {
      this.isTurned = isTurned;
      this.arrange();
    }
  }

  // The squares of an action that is marked: {from, to}, where from is null if no stone moves; null without a square.
  /** @type {(match: Drawn, action: number | null) => Mark | null} */
  toMark({ legal }, action) {
    const one = legal.find((other) => other.action === action);
    const to = one?.square ?? one?.pointed[0];
    return one === undefined || to === undefined ? null : { from: this.isMove(one) ? sourceOf(one) : null, to };
  }

  // Whether an action moves a stone between its two squares. Other actions are taken by a click on any of theirs.
  /** @type {(one: ActionDescription) => boolean} */
  isMove({ square, pointed }) {
    return this.game.moves_stones && pointed.length === 2 && square !== null;
  }

  // The legal actions by the squares on which their values are shown: the best one of a stone that can move, or, when a stone
  // is chosen, of its targets. Also sets the actions and moves of a click.
  /** @type {(shown: Shown) => Map<number, ActionDescription>} */
  findActions(shown) {
    const { match, known, isOpen } = shown;
    if (match.squares.join() !== this.shown?.match.squares.join() || !isOpen) {
      Object.assign(this, { chosen: null, asked: [] });
    }
    this.shown = shown;
    /** @type {(square: number, one: ActionDescription) => [number, ActionDescription]} */
    const at = (square, one) => [square, one];
    const worth = (/** @type {ActionDescription} */ { action }) => known.get(action)?.value ?? -Infinity;
    const fromWorst = match.legal.toSorted((one, other) => worth(one) - worth(other));
    const moves = fromWorst.filter((one) => this.isMove(one));
    const others = fromWorst.filter((one) => !this.isMove(one));
    const bySource = Map.groupBy(moves, sourceOf);
    if (isOpen && others.length === 0 && bySource.size === 1) {
      // The only stone that can move stays chosen, whatever is clicked.
      [this.chosen] = bySource.keys();
    }
    const targets = bySource.get(this.chosen ?? -1)?.map((one) => at(one.square ?? -1, one));
    const direct = targets ?? others.flatMap((one) => one.pointed.map((square) => at(square, one)));
    const actions = Map.groupBy(direct, ([square]) => square);
    this.actions = isOpen ? new Map([...actions].map(([square, pairs]) => [square, pairs.map(([, one]) => one)])) : new Map();
    this.moves = isOpen ? bySource : new Map();
    return new Map(targets ?? [...moves.map((one) => at(sourceOf(one), one)), ...others.map((one) => at(one.square ?? one.pointed[0], one))]);
  }
}
