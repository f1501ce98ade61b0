// Saving the picture of the position that is shown, as an SVG file.

import { at, svg } from "./drawing.js";
import { saveFile } from "./share.js";
import { review, table } from "./table.js";

const SIDE = 64;
const DISCS = { black: "#14181c", white: "#ffffff", red: "#d42a26", yellow: "#fbc615" };
const SIGNS = ["#1d5fa8", "#b4581a"];

function stoneOf({ stone_colours: colours, seat_names: names }, seat, x, y) {
  const [cx, cy] = [x + SIDE / 2, y + SIDE / 2];
  if (colours !== null) {
    return svg("circle", { cx, cy, r: 0.42 * SIDE, fill: DISCS[colours[seat]], stroke: "#0004" });
  }
  const style = { "text-anchor": "middle", "font-family": "sans-serif", "font-weight": "bold", "font-size": 0.7 * SIDE };
  return svg("text", { x: cx, y: cy + 0.25 * SIDE, fill: SIGNS[seat], ...style }, names[seat]);
}

function pictureOf(game, squares) {
  const lean = game.is_rhombus ? SIDE / 2 : 0;
  const [width, height] = [game.columns * SIDE + lean * (game.rows - 1), game.rows * SIDE];
  const ground = game.stone_colours === null ? "#ffffff" : game.stone_colours.includes("red") ? "#2459b5" : "#2f7d5b";
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  squares.forEach((stone, square) => {
    const row = Math.floor(square / game.columns);
    const [x, y] = [SIDE * (square % game.columns) + lean * row, SIDE * row];
    drawing.append(svg("rect", { x, y, width: SIDE, height: SIDE, fill: ground, stroke: "#0006" }));
    if (stone !== 0) {
      drawing.append(stoneOf(game, stone === 1 ? 0 : 1, x, y));
    }
  });
  return new XMLSerializer().serializeToString(drawing);
}

at("save-picture").addEventListener("click", () => {
  if (table.match !== null && table.game.rows !== null) {
    saveFile(`${table.game.name}.svg`, pictureOf(table.game, review.position(table.match).squares), "image/svg+xml");
  }
});
