// Requests that change the match: the answer is shown, and the opponent replies.

import * as address from "./address.js";
import * as api from "./api.js";
import { at, checked } from "./drawing.js";
import * as players from "./players.js";
import { review } from "./review.js";
import { whenFree } from "./settings.js";
import { checkValues, forgetLeft, keepInAddress, show, showBusy, table } from "./table.js";
import { fail, isThinking, say, whatHappened, whatToDo } from "./words.js";

// Milliseconds between two questions whether the server answers again.
const WAIT = 1000;

// saved: the match to bring back; null: a new one with the players that are chosen.
export async function newMatch(mine, saved) {
  const begun = await api.begin(table.game.name, saved ?? players.chosenSettings());
  if (mine !== table.visit) {
    // The match is not shown, and the server has a limit of open matches.
    api.leave(begun.id);
  }
  return begun;
}

// Runs a request that changes the match, shows the result, and lets the opponent reply. foreseen: what is shown of the
// change until then; null: nothing.
export async function request(change, foreseen = null) {
  const mine = table.visit;
  const plies = table.match === null ? 0 : table.match.plies.length;
  Object.assign(table, { isBusy: true, foreseen });
  fail(null);
  (foreseen === null ? showBusy : show)();
  let isAnswered = false;
  const changeOnce = async () => {
    const answer = await change();
    isAnswered = true;
    return answer;
  };
  try {
    await showAndReply(changeOnce, plies, mine);
  } catch (error) {
    if (mine === table.visit) {
      await recover(error, isAnswered ? null : change, plies, mine);
    }
  }
  if (mine === table.visit) {
    Object.assign(table, { isBusy: false, foreseen: null });
    show();
    whenFree();
  }
}

async function showAndReply(change, plies, mine) {
  await take(await change(), mine);
  // For a match that was brought back, only the last move is described.
  const first = mine === table.visit ? Math.max(plies, table.match.plies.length - 1) : plies;
  const opponentMoves = ({ is_over, awaits_person, people }) => !is_over && !awaits_person && !address.areWatching(people);
  let isSolving = false;
  while (mine === table.visit && opponentMoves(table.match)) {
    const { match } = table;
    say(isThinking(match, match.to_move, isSolving));
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
  Object.assign(table, { match: answer, foreseen: null, hint: null, lesson: null });
  checkValues(answer);
  review.follow(answer);
  forgetLeft(answer);
  keepInAddress();
  await review.look(answer);
  if (mine === table.visit) {
    show();
  }
}

// The match as the server knows it, as soon as the server answers.
async function lookAgain(mine) {
  for (;;) {
    try {
      return await api.look(table.match.id);
    } catch (error) {
      if (error.status !== 0 || mine !== table.visit) {
        throw error;
      }
      say("Waiting for the server…");
      await new Promise((done) => setTimeout(done, WAIT));
    }
  }
}

// After an error there are two cases. Either only the answer was lost, and the match has changed. Or the match has not
// changed; then a change that the server has not received is made again. change: null if it was answered.
async function recover(error, change, plies, mine) {
  fail(error);
  if (table.match === null) {
    say(whatToDo(null));
    return;
  }
  try {
    const found = await lookAgain(mine);
    const isLost = error.status === 0 && change !== null && found.moves === table.match.moves && found.match === table.match.match;
    await showAndReply(isLost ? change : () => found, plies, mine);
    if (mine === table.visit && error.status === 0) {
      fail(null);
    }
  } catch (again) {
    if (mine === table.visit) {
      await (again.status === 404 ? bringBack(change ?? (() => table.match), plies, mine) : say(whatToDo(table.match)));
    }
  }
  if (mine === table.visit && table.match !== null && checked("person") === table.match.people) {
    players.keepSelected(address.savedOf(table.match));
  }
}

// If the server does not know the match any more, as after a restart: begins it again with its moves, then changes it.
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
