// What surrounds a board: letters and numbers of its squares, or the heads of its columns.

import { element } from "./drawing.js";
import { knownOf, valueLabel } from "./stones.js";
import { goodness, paint, unpaint } from "./values.js";

function edge(texts, kind) {
  const made = element("div", { class: `edge ${kind}`, "aria-hidden": "true" }, ...texts.map((text) => element("span", {}, text)));
  [...made.children].forEach((span, number) => span.style.setProperty("--row", number));
  return made;
}

// Letters and numbers around a board whose squares are named a1, b1, …; heads above a board of columns; otherwise the
// numbers in the names "0,1" of row and column.
export function edgesOf({ rows, columns, square_names: names }) {
  const isAll = (pattern) => names.every((name) => pattern.test(name));
  const isColumns = isAll(/^column \d+,/);
  const parts = isAll(/^[a-z]\d+$/)
    ? { top: names.slice(0, columns).map((name) => name[0]), left: (row) => names[row * columns].slice(1) }
    : isAll(/^\d+,\d+$/)
      ? { top: names.slice(0, columns).map((name) => name.split(",")[1]), left: (row) => names[row * columns].split(",")[0] }
      : null;
  function around(board, heads) {
    if (heads !== null) {
      return element("div", { class: "framed columns" }, heads.row, board);
    }
    if (parts === null) {
      return board;
    }
    const left = Array.from({ length: rows }, (_, row) => parts.left(row));
    return element("div", { class: "framed" }, edge(parts.top, "top"), edge(left, "left"), board);
  }
  return { isColumns, around };
}

// The numbers of the columns, with the value of a stone in each.
export class ColumnHeads {
  constructor(columns) {
    this.row = edge(Array.from({ length: columns }, (_, column) => String(column + 1)), "top heads");
    this.heads = [...this.row.children];
    this.columns = columns;
  }

  show(shown, range) {
    const { match, values, scale } = shown;
    this.row.classList.toggle("valued", values.size > 0);
    this.heads.forEach((head, column) => {
      head.replaceChildren(String(column + 1));
      head.classList.remove("best");
      unpaint(head);
      const legal = match.legal.find((one) => one.square !== null && one.square % this.columns === column);
      const known = legal && knownOf(legal.action, shown);
      if (known) {
        head.append(valueLabel(known, scale));
        head.classList.toggle("best", known.value === range.best && values.size > 1);
        paint(head, goodness(known, scale, range));
      }
    });
  }

  point(pointed) {
    this.heads.forEach((head, column) => head.classList.toggle("pointed", column === pointed));
  }
}
