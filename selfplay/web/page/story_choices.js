// The choices for the charts of a story: other runs, the smoothing, and the levels whose curves are shown.

import * as address from "./address.js";
import { at, element } from "./drawing.js";

/** @type {Record<string, number>} */
const NEXT = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// runs: the ids of the other runs; smoothing: the values on each side that a mean takes in; hidden: levels.
/** @type {() => Choices} */
const nothing = () => ({ runs: [], smoothing: 0, hidden: new Set() });

export class StoryChoices {
  // changed is called after each change, with whether other runs were chosen.
  /**
   * @param {(areRunsNew: boolean) => unknown} changed
   */
  constructor(changed) {
    this.changed = changed;
    this.ofGames = new Map();
    this.game = "";
    /** @type {number[]} */
    this.levels = [];
    at("smoothing").addEventListener("input", () => this.change({ smoothing: Number(at("smoothing").value) }));
    at("levels-all").addEventListener("click", () => this.hide([]));
    at("levels-ends").addEventListener("click", () => this.hide(this.levels.slice(1, -1)));
    at("levels").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.move(event));
  }

  /** @returns {Choices} */
  get chosen() {
    return this.ofGames.get(this.game) ?? nothing();
  }

  /** @type {(level: number) => boolean} */
  shows(level) {
    return !this.chosen.hidden.has(level);
  }

  // The choices in the address, or else those made in an earlier visit.
  /** @type {(game: string) => void} */
  open(game) {
    this.game = game;
    this.levels = [];
    const asked = address.readStory(location.hash);
    if (asked !== null) {
      this.ofGames.set(game, { ...asked, smoothing: Math.min(asked.smoothing, Number(at("smoothing").max)) });
    }
    at("levels").replaceChildren();
    this.offerRuns([]);
    at("smoothing").value = this.chosen.smoothing;
    this.describe();
  }

  savedAddress() {
    return address.writeStory(this.game, this.chosen);
  }

  /** @type {(changes: Partial<Choices>) => void} */
  change(changes) {
    this.ofGames.set(this.game, { ...this.chosen, ...changes });
    history.replaceState(null, "", this.savedAddress());
    this.describe();
    this.changed(changes.runs !== undefined);
  }

  // The state of the controls in words.
  describe() {
    const { smoothing } = this.chosen;
    const about = smoothing === 0 ? "None: the values themselves." : `Each point is the mean of up to ${2 * smoothing + 1} values around it; the values themselves are faint. Exact values are not smoothed.`;
    at("smoothing-about").textContent = about;
    at("smoothing").setAttribute("aria-valuetext", smoothing === 0 ? "none" : `mean of ${2 * smoothing + 1} values`);
  }

  // ---------------------------------------------------------------------- other runs

  // Runs that are chosen stay in the list even if they do not exist any more.
  /** @type {(found: RunView[]) => void} */
  offerRuns(found) {
    const missing = this.chosen.runs.filter((id) => !found.some((run) => run.id === id));
    const runs = [...found, ...missing.map((id) => ({ id, settings: [], levels: 0 }))];
    at("runs").replaceChildren(...runs.map((run) => this.runCheck(run)));
    at("runs-about").textContent = runs.length > 0 ? "" : "No other runs were found beside this run or in the folder of runs.";
  }

  /** @type {(run: RunView) => any} */
  runCheck({ id, settings, levels }) {
    const box = element("input", { type: "checkbox", value: id });
    box.checked = this.chosen.runs.includes(id);
    box.addEventListener("change", () => {
      const others = this.chosen.runs.filter((other) => other !== id);
      this.change({ runs: box.checked ? [...others, id] : others });
    });
    const about = [...settings, levels === 1 ? "1 level" : `${levels} levels`].join(", ");
    return element("label", {}, box, element("span", {}, id), element("span", { class: "quiet" }, about));
  }

  // ---------------------------------------------------------------------- levels

  // Adds the levels that have appeared since, and keeps the keyboard focus.
  /** @type {(levels: number[]) => void} */
  offerLevels(levels) {
    this.levels = levels;
    const chips = new Map([...at("levels").children].map((chip) => [Number(chip.dataset.level), chip]));
    if (chips.size !== levels.length || levels.some((level) => !chips.has(level))) {
      /** @type {any} */
      const focused = document.activeElement;
      at("levels").replaceChildren(...levels.map((level) => chips.get(level) ?? this.levelChip(level)));
      focused.focus({ preventScroll: true });
    }
    this.showHidden();
  }

  /** @type {(level: number) => any} */
  levelChip(level) {
    const box = element("input", { type: "checkbox", "aria-label": `Level ${level}` });
    box.addEventListener("change", () => {
      const hidden = new Set(this.chosen.hidden);
      hidden[box.checked ? "delete" : "add"](level);
      this.hide(hidden);
    });
    return element("label", { "data-level": level }, box, element("span", {}, String(level)));
  }

  /** @type {(levels: Iterable<number>) => void} */
  hide(levels) {
    this.change({ hidden: new Set(levels) });
    this.showHidden();
  }

  // Only one level is in the order of the Tab key; the arrow keys lead to the others.
  showHidden() {
    const boxes = [...at("levels").querySelectorAll("input")];
    const entry = boxes.includes(document.activeElement) ? document.activeElement : boxes[0];
    boxes.forEach((box, number) => {
      box.checked = this.shows(this.levels[number]);
      box.tabIndex = box === entry ? 0 : -1;
    });
  }

  /** @type {(event: any) => void} */
  move(event) {
    const boxes = [...at("levels").querySelectorAll("input")];
    /** @type {Record<string, number>} */
    const ends = { Home: 0, End: boxes.length - 1 };
    const to = event.key in ends ? ends[event.key] : boxes.indexOf(event.target) + NEXT[event.key];
    if (boxes[to] !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      boxes[to].focus();
      this.showHidden();
    }
  }
}
