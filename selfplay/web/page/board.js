// The board: squares that can be clicked, gone over with the arrow keys, and heard; or buttons, for games without one.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A value as short as a square needs it; values without bounds (searches) are whole numbers.
export function valueText(value, scale) {
  const sign = value < 0 ? "−" : "+";
  const size = Math.abs(value);
  if (scale.span !== null) {
    return scale.neutral === 0 ? `${sign}${size.toFixed(2)}` : size.toFixed(2);
  }
  return size >= 1000 ? `${sign}${Math.round(size / 1000)}k` : `${sign}${Math.round(size)}`;
}

// Where a value lies between bad (-1) and good (1).
export function goodness(value, scale, largest) {
  const span = scale.span ?? Math.max(largest, 1e-9);
  return Math.max(-1, Math.min(1, (value - scale.neutral) / span));
}

function paint(node, good) {
  node.dataset.tone = good > 0.02 ? "good" : good < -0.02 ? "bad" : "even";
  node.style.setProperty("--strength", `${Math.round(18 + 62 * Math.abs(good))}%`);
}

// ---------------------------------------------------------------------- boards of squares

export class Board {
  // play(action) is called when the person takes a legal action.
  constructor(place, game, play) {
    this.game = game;
    this.play = play;
    this.actions = new Map();
    this.focused = 0;
    // Actions that stand on no square, in games in which not every square is an action.
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

  // Letters and numbers around a board whose squares are called a1, b1, …; numbers above one that is told by columns.
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

  // shown: {match, values: Map of action to value, scale, isOpen, hint}
  show(shown) {
    const { match, values, scale } = shown;
    const last = match.plies.at(-1);
    const largest = Math.max(0, ...[...values.values()].map((value) => Math.abs(value - scale.neutral)));
    const best = Math.max(...values.values());
    this.actions = new Map(shown.isOpen ? match.legal.flatMap((a) => a.pointed.map((square) => [square, a])) : []);
    this.others.show(match.legal.filter((a) => a.pointed.length === 0), shown, largest, best);
    const shownLegal = new Map(match.legal.filter((a) => a.square !== null).map((a) => [a.square, a]));
    this.cells.forEach((cell, square) => {
      const legal = shownLegal.get(square);
      const value = legal && values.get(legal.action);
      const words = [this.game.square_names[square], this.stoneName(match.squares[square])];
      cell.classList.toggle("legal", Boolean(legal));
      cell.classList.toggle("last", Boolean(last) && last.square === square);
      cell.classList.toggle("hinted", shown.hint === square);
      cell.classList.toggle("best", value !== undefined && value === best && values.size > 1);
      this.redraw(cell, square, match.squares[square], last, value === undefined ? "" : valueText(value, scale));
      delete cell.dataset.tone;
      if (value !== undefined) {
        paint(cell, goodness(value, scale, largest));
        words.push(`value ${valueText(value, scale)}`);
      }
      if (last && last.square === square) {
        words.push("last move");
      }
      if (last && last.turned.includes(square)) {
        words.push("just turned");
      }
      if (shown.hint === square) {
        words.push("the hint");
      }
      cell.setAttribute("aria-label", words.join(", "));
      cell.setAttribute("aria-disabled", String(!this.actions.has(square)));
    });
  }

  // What has not changed is left alone, or a disc would turn again and again.
  redraw(cell, square, stone, last, value) {
    const marks = last ? [last.square === square, last.turned.includes(square)] : [];
    const drawn = JSON.stringify([stone, value, ...marks]);
    if (cell.dataset.drawn !== drawn) {
      cell.dataset.drawn = drawn;
      cell.replaceChildren();
      this.drawStone(cell, stone, last, square);
      if (value !== "") {
        cell.append(element("span", { class: "value" }, value));
      }
    }
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

// ---------------------------------------------------------------------- games without a board

class ActionButtons {
  constructor(play) {
    this.play = play;
    this.legal = new Map();
    // An action keeps its button as long as the board is there, so that who plays by keys keeps the place.
    this.buttons = new Map();
    this.group = element("div", { class: "actions", role: "group", "aria-label": "Your actions", hidden: true });
    this.group.addEventListener("keydown", (event) => this.move(event));
  }

  show(legal, shown, largest, best) {
    this.legal = new Map(legal.map((one) => [one.action, one]));
    legal.filter((one) => !this.buttons.has(one.action)).forEach((one) => this.add(one));
    this.group.hidden = this.buttons.size === 0;
    this.isOpen = shown.isOpen;
    this.buttons.forEach((button, action) => this.draw(button, action, shown, largest, best));
  }

  // In the order of the actions, whichever of them was legal first.
  add({ action, text }) {
    const button = element("button", { type: "button", class: "action", "data-action": action }, element("b", {}, text));
    button.addEventListener("click", () => this.isOpen && this.legal.has(action) && this.play(action));
    const next = Math.min(...[...this.buttons.keys()].filter((other) => other > action));
    this.group.insertBefore(button, this.buttons.get(next) ?? null);
    this.buttons.set(action, button);
  }

  draw(button, action, shown, largest, best) {
    const legal = this.legal.get(action);
    const value = legal && shown.values.get(action);
    const name = button.querySelector("b");
    button.classList.toggle("legal", Boolean(legal));
    button.classList.toggle("hinted", shown.hintAction === action);
    button.classList.toggle("best", value !== undefined && value === best && shown.values.size > 1);
    button.setAttribute("aria-disabled", String(!shown.isOpen || !legal));
    button.setAttribute("aria-label", name.textContent);
    button.replaceChildren(name);
    delete button.dataset.tone;
    if (value !== undefined) {
      paint(button, goodness(value, shown.scale, largest));
      button.append(element("span", { class: "value" }, valueText(value, shown.scale)));
      button.setAttribute("aria-label", `${name.textContent}, value ${valueText(value, shown.scale)}`);
    }
  }

  move(event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (step !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      const buttons = [...this.group.children];
      buttons[buttons.indexOf(document.activeElement) + step]?.focus();
    }
  }
}

export class Buttons {
  constructor(place, game, play) {
    this.game = game;
    this.sum = element("output", { class: "sum" });
    this.track = svg("svg", { class: "track", role: "img" });
    this.actions = new ActionButtons(play);
    place.replaceChildren(element("div", { class: "numbers" }, this.sum, this.track, this.actions.group));
  }

  show(shown) {
    const { match, values, scale } = shown;
    const { line_label: label, line_end: end } = this.game;
    this.sum.replaceChildren();
    if (label === null) {
      this.sum.append(element("pre", {}, match.board));
    } else {
      this.sum.append(element("span", { class: "quiet" }, label), element("strong", {}, String(match.place)));
    }
    this.drawTrack(match, end);
    const largest = Math.max(0, ...[...values.values()].map((value) => Math.abs(value - scale.neutral)));
    const best = Math.max(...values.values());
    this.actions.show(match.legal, shown, largest, best);
  }

  // How far the match has come, with a stop for each ply.
  drawTrack(match, end) {
    this.track.toggleAttribute("hidden", end === null);
    if (end === null) {
      return;
    }
    // Drawn for the width that it has, so that its words stay readable on a phone.
    const width = this.track.clientWidth || 440;
    const x = (number) => 10 + ((width - 20) * number) / end;
    this.track.setAttribute("viewBox", `0 0 ${width} 34`);
    this.track.setAttribute("aria-label", `${match.place} of ${end}`);
    this.track.replaceChildren(svg("line", { x1: x(0), x2: x(end), y1: 10, y2: 10, class: "rail" }));
    this.track.append(svg("line", { x1: x(0), x2: x(match.place), y1: 10, y2: 10, class: "gone" }));
    for (const ply of match.plies) {
      if (ply.place !== null) {
        this.track.append(svg("circle", { cx: x(ply.place), cy: 10, r: 5, class: ply.seat === match.person_seat ? "yours" : "its" }));
      }
    }
    for (const number of [0, end]) {
      const place = { x: number === 0 ? 2 : width - 2, y: 31, "text-anchor": number === 0 ? "start" : "end" };
      this.track.append(svg("text", place, String(number)));
    }
  }
}
