// The board: squares that can be clicked, reached with the arrow keys, and read by a screen reader.

import { ActionButtons } from "./buttons.js";
import { element, extremes, goodness, paint, svg, valueInWords, valueLabel, valueText } from "./drawing.js";

export class Board {
  // play(action) is called when the person chooses a legal action.
  constructor(place, game, play) {
    this.game = game;
    this.play = play;
    this.actions = new Map();
    this.focused = 0;
    // Buttons for actions without a square, such as a pass.
    this.others = new ActionButtons(play);
    place.replaceChildren(this.build(), this.others.group);
  }

  build() {
    const { rows, columns, stone_colours: colours } = this.game;
    this.cells = [];
    const board = element("div", {
      class: `board ${colours ? "discs" : "signs"}`,
      "data-first": colours?.[0],
      role: "grid",
      "aria-label": `${this.game.title} board`,
      "aria-rowcount": rows,
      "aria-colcount": columns,
    });
    board.style.setProperty("--columns", columns);
    board.addEventListener("keydown", (event) => this.move(event));
    for (let row = 0; row < rows; row += 1) {
      const line = element("div", { role: "row", "aria-rowindex": row + 1 });
      for (let column = 0; column < columns; column += 1) {
        line.append(this.buildCell(row * columns + column, column));
      }
      board.append(line);
    }
    return this.withEdges(board);
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
    cell.addEventListener("click", () => {
      this.focus(square, false);
      if (this.actions.has(square)) {
        this.play(this.actions.get(square).action);
      }
    });
    this.cells.push(cell);
    return cell;
  }

  // Adds letters and numbers around a board whose squares are named a1, b1, …; numbers above a board of columns.
  withEdges(board) {
    const { rows, columns, square_names: names } = this.game;
    const isAll = (pattern) => names.every((name) => pattern.test(name));
    const [hasBoth, hasColumns] = [isAll(/^[a-z]\d+$/), isAll(/^column \d+,/)];
    if (!hasBoth && !hasColumns) {
      return board;
    }
    const edge = (texts, kind) =>
      element("div", { class: `edge ${kind}`, "aria-hidden": "true" }, ...texts.map((text) => element("span", {}, text)));
    const top = names.slice(0, columns).map((name) => (hasBoth ? name[0] : name.match(/\d+/)[0]));
    const left = hasBoth ? Array.from({ length: rows }, (_, row) => names[row * columns].slice(1)) : [];
    return element("div", { class: hasBoth ? "framed" : "framed columns" }, edge(top, "top"), edge(left, "left"), board);
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
    if (!goal || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    if (goal[0] >= 0 && goal[0] < rows && goal[1] >= 0 && goal[1] < columns) {
      this.focus(goal[0] * columns + goal[1]);
    }
  }

  // shown: {match, values: Map of action to value, shares: Map of action to its percentage of the simulations,
  // words: Map of action to the value in words, scale, isOpen, hint}
  show(shown) {
    const { match, values, shares, scale } = shown;
    const last = match.plies.at(-1);
    const { largest, best } = extremes(values, scale);
    this.actions = new Map(shown.isOpen ? match.legal.flatMap((a) => a.pointed.map((square) => [square, a])) : []);
    this.others.show(match.legal.filter((a) => a.pointed.length === 0), shown, largest, best);
    const shownLegal = new Map(match.legal.filter((a) => a.square !== null).map((a) => [a.square, a]));
    this.cells.forEach((cell, square) => {
      const legal = shownLegal.get(square);
      const value = legal && values.get(legal.action);
      const share = legal && shares.get(legal.action);
      const words = [this.game.square_names[square], this.stoneName(match.squares[square])];
      cell.classList.toggle("legal", Boolean(legal));
      cell.classList.toggle("last", Boolean(last) && last.square === square);
      cell.classList.toggle("hinted", shown.hint === square);
      cell.classList.toggle("best", value !== undefined && value === best && values.size > 1);
      const inWords = legal && shown.words.get(legal.action);
      const label = value === undefined && share === undefined ? null : this.label(value, share, scale, inWords);
      this.redraw(cell, square, match.squares[square], last, label);
      delete cell.dataset.tone;
      if (label !== null) {
        paint(cell, value === undefined ? 0 : goodness(value, scale, largest));
      }
      words.push(...valueInWords(value, share, scale), ...(inWords ? [inWords] : []));
      if (last && last.square === square) {
        words.push("last move");
      }
      if (last && last.turned.includes(square)) {
        words.push("just turned");
      }
      if (shown.hint === square) {
        words.push("hint");
      }
      cell.setAttribute("aria-label", words.join(", "));
      cell.setAttribute("aria-disabled", String(!this.actions.has(square)));
    });
  }

  // Redraws a square only if it has changed; otherwise the animation of a turned disc would start again.
  redraw(cell, square, stone, last, value) {
    const marks = last ? [last.square === square, last.turned.includes(square)] : [];
    const drawn = JSON.stringify([stone, value?.outerHTML, ...marks]);
    if (cell.dataset.drawn !== drawn) {
      cell.dataset.drawn = drawn;
      cell.replaceChildren();
      this.drawStone(cell, stone, last, square);
      if (value !== null) {
        cell.append(value);
      }
    }
  }

  // The label has a shorter text for small squares, and a second line ("in 8", "by 6") for large ones.
  label(value, share, scale, inWords) {
    const short = value === undefined || scale.span === null ? null : valueText(value, scale, 1);
    const more = inWords?.match(/ (.+)/)?.[1];
    const title = inWords ?? (share === undefined ? null : valueInWords(value, share, scale).join(", "));
    return valueLabel(value, share, scale, { "data-short": short, "data-more": more, title });
  }

  stoneName(stone) {
    return stone === 0 ? "empty" : this.game.seat_names[stone === 1 ? 0 : 1];
  }

  drawStone(cell, stone, last, square) {
    if (stone === 0) {
      return;
    }
    const seat = stone === 1 ? 0 : 1;
    const isTurned = Boolean(last) && last.turned.includes(square);
    const isNew = Boolean(last) && last.square === square;
    if (this.game.stone_colours) {
      const colour = this.game.stone_colours[seat];
      cell.append(element("span", { class: `disc ${colour}${isTurned ? " turned" : ""}${isNew ? " new" : ""}` }));
      return;
    }
    const drawing = svg("svg", { viewBox: "0 0 100 100", class: `sign seat${seat}${isNew ? " new" : ""}`, "aria-hidden": "true" });
    if (this.game.seat_names[seat] === "X") {
      drawing.append(svg("path", { d: "M24 24L76 76M76 24L24 76" }));
    } else if (this.game.seat_names[seat] === "O") {
      drawing.append(svg("circle", { cx: 50, cy: 50, r: 28 }));
    } else {
      drawing.append(svg("text", { x: 50, y: 66, "text-anchor": "middle", "font-size": 48 }, this.game.seat_names[seat]));
    }
    cell.append(drawing);
  }
}
