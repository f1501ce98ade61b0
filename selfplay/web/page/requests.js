// Requests that change the match: the answer is shown, and the opponent replies.

import * as address from "./address.js";
import * as api from "./api.js";
import { at, checked } from "./drawing.js";
import * as left from "./left.js";
import { areWatching } from "./people.js";
import * as players from "./players.js";
import { perfect, review, savedAddress, show, table } from "./table.js";
import { fail, say, whatHappened, whatToDo } from "./words.js";

// Called when no request is running any more.
export const whenFree = { call: () => {} };

// saved: the match to bring back; null: a new one with the players that are chosen.
export async function newMatch(mine, saved) {
  const begun = await api.begin(table.game.name, saved ?? players.chosenSettings());
  if (mine !== table.visit) {
    // The match is not shown, and the server has a limit of open matches.
    api.leave(begun.id);
  }
  return begun;
}

// Runs a request that changes the match, shows the result, and lets the opponent reply.
export async function request(change) {
  const mine = table.visit;
  const plies = table.match === null ? 0 : table.match.plies.length;
  table.isBusy = true;
  document.body.dataset.busy = "true";
  fail(null);
  try {
    await showAndReply(change, plies, mine);
  } catch (error) {
    if (mine === table.visit) {
      await recover(error, change, plies, mine);
    }
  }
  if (mine === table.visit) {
    table.isBusy = false;
    show();
    whenFree.call();
  }
}

async function showAndReply(change, plies, mine) {
  await take(await change(), mine);
  // Of a match that was brought back, only the last move is told.
  const first = mine === table.visit ? Math.max(plies, table.match.plies.length - 1) : plies;
  const opponentMoves = ({ is_over, awaits_person, people }) => !is_over && !awaits_person && !areWatching(people);
  let isSolving = false;
  while (mine === table.visit && opponentMoves(table.match)) {
    const { match } = table;
    const name = (match.seats[match.to_move] ?? match.opponent).label;
    say(`${name} is ${isSolving ? "still solving this position" : "thinking"}…`);
    const before = match.plies.length;
    await take(await api.reply(match.id), mine);
    // A perfect opponent does not act before it has solved the position.
    isSolving = mine === table.visit && table.match.plies.length === before;
  }
  if (mine === table.visit) {
    say(whatHappened(table.match, first));
  }
}

async function take(answer, mine) {
  if (mine !== table.visit) {
    return;
  }
  table.match = answer;
  table.hint = null;
  review.follow(answer);
  left.forget(answer);
  if (!at("play").hidden) {
    history.replaceState(null, "", savedAddress());
  }
  await perfect.fetch(answer);
  if (mine === table.visit) {
    show();
  }
}

// After an error: either only the answer was lost and the match has changed, or the match has not changed.
async function recover(error, change, plies, mine) {
  fail(error);
  if (table.match === null) {
    say(whatToDo(null));
    return;
  }
  try {
    await showAndReply(() => api.look(table.match.id), plies, mine);
    if (mine === table.visit && error.status === 0) {
      fail(null);
    }
  } catch (again) {
    if (mine === table.visit) {
      await (again.status === 404 ? bringBack(change, plies, mine) : say(whatToDo(table.match)));
    }
  }
  if (mine === table.visit && table.match !== null && checked("person") === table.match.people) {
    players.keepSelected(address.savedOf(table.match));
  }
}

// The server does not know the match any more, as after a restart: begins it again with its moves, and then changes it.
async function bringBack(change, plies, mine) {
  try {
    await take(await newMatch(mine, address.savedOf(table.match)), mine);
    if (mine === table.visit) {
      fail(null);
      await showAndReply(change, plies, mine);
    }
  } catch (error) {
    if (mine === table.visit) {
      fail(error);
      say(whatToDo(table.match));
    }
  }
}
