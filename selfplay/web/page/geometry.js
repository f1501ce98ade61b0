// Where the squares of a board are drawn. The unit is the width of a square; [0, 0] is the upper left corner of the board.

// Of a hexagon with a corner at the top: from its centre to a corner, and from a row to the next one.
const RADIUS = 1 / Math.sqrt(3);
const ROW_STEP = 1.5 * RADIUS;

// Whether a game has a board.
/** @type {(game: GameView) => game is BoardGame} */
export const hasBoard = (game) => game.rows !== null;

/** @type {(game: BoardShape) => {width: number, height: number}} */
export const sizeOf = ({ rows, columns, is_rhombus: isRhombus }) =>
  isRhombus ? { width: columns + (rows - 1) / 2, height: (rows - 1) * ROW_STEP + 2 * RADIUS } : { width: columns, height: rows };

/** @type {(game: Pick<BoardShape, "is_rhombus">, row: number, column: number) => Point} */
export const centreOf = ({ is_rhombus: isRhombus }, row, column) =>
  isRhombus ? [column + 0.5 + row / 2, RADIUS + row * ROW_STEP] : [column + 0.5, row + 0.5];

// The corners of a hexagon around its middle, clockwise from its upper left one.
/** @type {(middle: Point) => Point[]} */
export const hexagon = (middle) => cornersOf(middle, [150, 90, 30, -30, -90, -150]);

/** @type {(middle: Point, degrees: number[]) => Point[]} */
const cornersOf = ([x, y], degrees) =>
  degrees.map((degree) => (degree * Math.PI) / 180).map((angle) => /** @type {Point} */ ([x + RADIUS * Math.cos(angle), y - RADIUS * Math.sin(angle)]));

// The lines along the edges of a rhombus, as corners: those of the player who moves first (top, bottom), and of the other.
/** @type {(game: BoardShape) => Point[][][]} */
export function edgesOf({ rows, columns, is_rhombus }) {
  /** @type {(count: number, cellAt: (one: number) => Point, degrees: number[]) => Point[]} */
  const along = (count, cellAt, degrees) => [...Array(count).keys()].flatMap((one) => cornersOf(centreOf({ is_rhombus }, ...cellAt(one)), degrees));
  return [
    [along(columns, (column) => [0, column], [150, 90, 30]), along(columns, (column) => [rows - 1, column], [-150, -90, -30])],
    [along(rows, (row) => [row, 0], [150, -150]), along(rows, (row) => [row, columns - 1], [30, -30])],
  ];
}

// The lines on whose crossings stones stand.
/** @type {(game: BoardShape) => string} */
export function linesOf(game) {
  const { rows, columns, joined_squares: joined } = game;
  if (joined.length > 0) {
    return joined.map((squares) => pathOf(squares.map((square) => centreOf(game, Math.floor(square / columns), square % columns)))).join("");
  }
  const [right, down] = [columns - 0.5, rows - 0.5];
  /** @type {Point[][]} */
  const lines = [
    ...[...Array(rows).keys()].map((row) => /** @type {Point[]} */ ([[0.5, row + 0.5], [right, row + 0.5]])),
    ...[...Array(columns).keys()].map((column) => /** @type {Point[]} */ ([[column + 0.5, 0.5], [column + 0.5, down]])),
  ];
  return lines.map(pathOf).join("");
}

// The middles of the crossings that are marked by a dot.
/** @type {(game: BoardShape) => Point[]} */
export const starPoints = (game) => game.star_points.map((square) => centreOf(game, Math.floor(square / game.columns), square % game.columns));

/** @type {(points: Point[]) => string} */
export const pathOf = (points) => `M${points.map((point) => point.map((one) => one.toFixed(3)).join(" ")).join("L")}`;

// The squares of the stones of one colour that are connected with a stone along lines.
/** @type {(squares: number[], columns: number, start: number) => Set<number>} */
export function chainOf(squares, columns, start) {
  const chain = new Set([start]);
  for (const square of chain) {
    const column = square % columns;
    const beside = [square - columns, square + columns, ...(column > 0 ? [square - 1] : []), ...(column + 1 < columns ? [square + 1] : [])];
    beside.filter((one) => squares[one] === squares[start]).forEach((one) => chain.add(one));
  }
  return chain;
}
