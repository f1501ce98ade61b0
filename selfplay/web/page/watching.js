// Players who are watched: one move at a time, or running.

import * as api from "./api.js";
import { at } from "./drawing.js";
import { areWatching } from "./people.js";
import { request } from "./requests.js";
import { askForMore } from "./stepping.js";
import { show, table } from "./table.js";

// Milliseconds between two moves.
const PAUSE = 700;

export function step() {
  const { match, isBusy } = table;
  return match !== null && !isBusy && !match.is_over ? request(() => api.reply(table.match.id)) : null;
}

export async function run() {
  const mine = table.visit;
  const goesOn = () => table.isRunning && mine === table.visit && areWatching(table.match?.people) && !table.match.is_over;
  table.isRunning = !table.isRunning;
  show();
  while (goesOn() && at("error").hidden) {
    await step();
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  if (mine === table.visit) {
    table.isRunning = false;
    show();
    askForMore();
  }
}
