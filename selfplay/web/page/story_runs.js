// The runs that a story shows side by side: each with a short name, a colour and a style of line.

const DASHES = [null, "7 4", "2 4", "10 3 2 3"];
const COLOURS = 6;

// stories: by the id of the run, the game's own first.
/** @type {(stories: StoryView[]) => Run[]} */
export function runsOf(stories) {
  const ids = stories.map((story) => story.run);
  const names = shortNames(ids);
  return stories.map((story, number) => ({
    story,
    name: names[number],
    tone: `var(--run-${number % COLOURS})`,
    dash: DASHES[number % DASHES.length],
    isAlone: stories.length === 1,
  }));
}

// The ends of the paths, beginning with the first folder in which they differ.
/** @type {(paths: string[]) => string[]} */
function shortNames(paths) {
  const parts = paths.map((path) => path.split("/"));
  const shortest = Math.min(...parts.map((one) => one.length)) - 1;
  let common = 0;
  while (common < shortest && parts.every((one) => one[common] === parts[0][common])) {
    common += 1;
  }
  return parts.map((one) => one.slice(common).join("/"));
}

// The name of a curve of a run; `what` alone if only one run is shown.
/** @type {(run: Run, what: string) => string} */
export const curveName = (run, what) => (run.isAlone ? what : what === "" ? run.name : `${run.name}: ${what}`);

// The colour of the first or only curve of a run.
/** @type {(run: Run) => string} */
export const toneOf = (run) => (run.isAlone ? "var(--chart-a)" : run.tone);

// The colour of a level: the first is close to the background, the newest stands out most.
/** @type {(run: Pick<Run, "isAlone" | "tone">, number: number, count: number) => string} */
export function shade(run, number, count) {
  const share = (number + 1) / count;
  const [from, to, percent] = run.isAlone ? ["var(--chart-old)", "var(--chart-new)", 100 * share] : ["var(--card)", run.tone, 35 + 65 * share];
  return `color-mix(in oklab, ${to} ${Math.round(percent)}%, ${from})`;
}

// Tables have a column for the run if there are several.
/** @type {(runs: Run[], head: string[]) => string[]} */
export const headOf = (runs, head) => (runs.length > 1 ? ["run", ...head] : head);
/** @type {(runs: Run[], rows: (run: Run) => Cells[]) => Cells[]} */
export const rowsOf = (runs, rows) => runs.flatMap((run) => rows(run).map((row) => (run.isAlone ? row : [run.name, ...row])));

// The probability that a level wins, draws and loses against the random player, of a row of the comparison.
/** @type {(row: any) => number[]} */
export const exactShares = (row) => ["win", "draw", "loss"].map((result) => row[`exact_${result}_vs_random`]);
