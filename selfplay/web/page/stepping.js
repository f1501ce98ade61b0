// Stepping through the moves of the match, hints, and what the page finds out about the moves in the background.

import * as address from "./address.js";
import * as api from "./api.js";
import { at } from "./drawing.js";
import * as left from "./left.js";
import { gradeOf, withExactValues } from "./moves.js";
import { newMatch, request } from "./requests.js";
import { choosing, exactValues, isShown, keepInAddress, keepInHistory, perfect, review, show, table, wantsPerfect } from "./table.js";
import { aboutHint, aboutLine, aboutPosition, fail, say, whatHappened } from "./words.js";

// Counts the steps asked for.
let steps = 0;

// to: a number of plies, or a function from the number of plies that are shown.
export async function goTo(to) {
  const asked = table.match;
  if (asked === null || table.isBusy || table.isRunning || table.isEdited) {
    return;
  }
  steps += 1;
  const [mine, count] = [steps, asked.plies.length];
  const ply = Math.max(0, Math.min(count, typeof to === "function" ? to(review.wanted ?? count) : to));
  const isWanted = () => asked === table.match && mine === steps;
  try {
    const isOutdated = await api.untilFree(() => review.go(asked, ply), isWanted);
    if (asked !== table.match || isOutdated) {
      return;
    }
    table.hint = null;
    await api.untilFree(() => perfect.fetch(asked, review.ply), isWanted);
    if (asked === table.match) {
      keepInAddress();
      show();
      sayPosition();
      askForMore();
    }
  } catch (error) {
    if (!isWanted()) {
      return;
    }
    if (error.status !== 404) {
      fail(error);
      return;
    }
    // The server does not know the match any more, as after a restart.
    await request(() => newMatch(table.visit, address.savedOf(asked)));
    if (at("error").hidden) {
      await goTo(ply);
    }
  }
}

choosing.goTo = goTo;

function sayPosition() {
  const { match } = table;
  if (review.ply === null) {
    say(whatHappened(match, match.plies.length));
    return;
  }
  const valued = withExactValues(match, exactValues());
  const ply = valued.plies[review.ply - 1];
  const grade = ply && gradeOf(valued, ply);
  say(aboutPosition(match, review.ply, grade ? ` (${grade}; better: ${ply.best})` : ""));
}

export function playOn() {
  if (review.ply !== null && !table.isBusy) {
    const { ply } = review;
    left.note(table.game, table.match);
    keepInHistory();
    request(() => api.rewind(table.match.id, ply));
  }
}

// What the page shows only later: estimates of a match that was brought back, and the exact values of all moves.
export function askForMore() {
  const asked = table.match;
  if (asked === null || table.isRunning) {
    return;
  }
  const isCurrent = () => isShown(asked) && table.lesson === null;
  const takePlies = (plies) => {
    asked.plies = plies;
    show();
  };
  review.fill(asked, takePlies, isCurrent).catch(() => {});
  if (wantsPerfect() && (asked.is_over || review.ply !== null || review.judged.size > 0)) {
    api.untilFree(() => review.judge(asked), isCurrent).catch(() => {});
  }
}

export async function giveHint() {
  const { ply } = review;
  const asked = table.match;
  if (asked === null || table.isBusy || !(asked.awaits_person || ply !== null)) {
    return;
  }
  const isStill = () => isShown(asked) && review.ply === ply;
  try {
    const said = ply === null ? await hintHere(asked, isStill) : "";
    const line = isStill() ? await api.line(asked.id, wantsPerfect(), ply) : null;
    if (isStill()) {
      say(said + aboutLine(line));
    }
  } catch (error) {
    if (isStill()) {
      say(error.message);
    }
  }
}

async function hintHere(asked, isStill) {
  const given = await api.hint(asked.id);
  if (!isStill()) {
    return "";
  }
  table.hint = given;
  const said = aboutHint(asked, given);
  show();
  say(said);
  return said;
}
