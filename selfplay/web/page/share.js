// Copying, saving and loading a match, and saving a picture of the position that is shown.

import { at, clicked, element } from "./drawing.js";
import { hasBoard } from "./geometry.js";
import { pictureOf } from "./picture.js";
import { ask } from "./review.js";
import { matchItself, opened, position, state } from "./state.js";

/** @type {(text: string) => void} */
export const say = (text) => void (at("share-state").textContent = text);

// Shows the moves, unless the person is writing.
export function showMovesText() {
  if (document.activeElement !== at("moves")) {
    at("moves").value = state.match?.moves ?? "";
  }
}

/** @type {(text: string, what: string) => Promise<void>} */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`The ${what} copied.`);
  } catch {
    // Without encryption, browsers offer no clipboard to pages of other computers.
    say("The browser does not allow copying; select the text instead.");
    at("moves").value = text;
    at("moves").select();
  }
}

/** @type {(name: string, text: string, type: string) => void} */
function saveFile(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// A match that is still as it was loaded is sent as this text, which says the names of its players and perhaps its result.
async function download() {
  const { match, answer, record } = matchItself();
  const isAsLoaded = record !== null && [record.plies, answer.plies.length].every((plies) => plies === record.whole);
  const { file } = await ask({ ...match, moves: (isAsLoaded && record.text) || match.moves, show: ["file"] });
  saveFile(file.name, file.text, "text/plain");
}

/** @type {(action: () => Promise<void> | void) => () => unknown} */
const ifOpen = (action) => () => state.match !== null && action()?.catch((error) => say(error.message));
clicked("copy-moves", ifOpen(() => copy(opened().match.moves, "moves are")));
clicked("copy-link", ifOpen(() => copy(location.href, "link is")));
clicked("download", ifOpen(download));
clicked("save-picture", ifOpen(() => savePicture(opened().game, position())));
at("share").addEventListener("toggle", () => {
  say("");
  showMovesText();
});

/** @type {(game: GameView, match: Pick<MatchView, "squares" | "marks">) => void} */
function savePicture(game, match) {
  if (hasBoard(game) && match.squares !== null) {
    saveFile(`${game.name}.svg`, new XMLSerializer().serializeToString(pictureOf(game, match)), "image/svg+xml");
  }
}
