// Types that several modules of the page use. Those of requests and answers are made of the server's description of them.

/** The fields of a request that describe a match. */
type Match = Required<
  Pick<MatchRequest, "game" | "opponent" | "person" | "partner" | "adviser" | "seed" | "moves" | "position" | "is_practice" | "stood_in" | "dead" | "ended">
>;

/** A match in an address. The game may be unknown, and null stands for the default opponent. */
type SavedMatch = Omit<Match, "game" | "opponent"> & { opponent: string | null };

/** How a match is shown, as in an address. values: those on the board, null for the usual ones; ply: see State. */
type ShownAs = { isAnalysed: boolean; values: string | null; ply: number | null; hasTerritory: boolean; variation: string | null; isInVariation: boolean };

/** The choices of a story. runs: ids of other runs; smoothing: values on each side that a mean takes in; hidden: levels. */
type Choices = { runs: string[]; smoothing: number; hidden: Set<number> };

/** Where a part is drawn, in widths of a square; as a square: its row and column. */
type Point = [number, number];

/** A game with a board of squares. */
type BoardGame = GameView & { rows: number; columns: number };
type BoardShape = Pick<BoardGame, "rows" | "columns" | "is_rhombus" | "is_on_crossings" | "star_points" | "joined_squares" | "unused_squares">;

/**
 * A match as view.js makes it of its data. squares: 1 for a stone of seat 0, -1 for one of seat 1, 0 for none; marks: what is to
 * be known of each square besides its stone, such as "king", several with commas between them; captured: the stones that each seat has captured; person_seat:
 * that of the only person; winner: null after a draw and before the end; result: as a sentence;
 * counted: the result without the stones that are marked as dead, where people have to agree on them.
 */
type Viewed<Data extends MatchData> = Omit<Data, "plies" | "legal" | "result"> & {
  seat_names: string[];
  point_name: string;
  squares: number[] | null;
  marks: string[] | null;
  captured: number[] | null;
  winning_squares: number[];
  person_seat: number | null;
  can_undo: boolean;
  winner: number | null;
  result: string | null;
  counted: string | null;
  legal: ActionDescription[];
  plies: PlyDescription[];
};
type MatchDescription = Viewed<MatchData>;
type MatchView = Viewed<ServedMatch>;
/** warning: a sentence to confirm first; null for most actions. */
type ActionDescription = ActionData & { warning: string | null };
/** square: on which a stone was placed; origin: from which one moved; turned: whose stones changed colour. */
type PlyDescription = PlyData & { square: number | null; origin: number | null; turned: number[]; grade: Grade };

/** How well an action does, in words; null if it is about as good as the best, or if this is not known. */
type Grade = "inaccuracy" | "mistake" | "blunder" | null;

/** What is known of an action. share: of the simulations, in percent; result: with perfect play, beside an estimate. */
type Known = ValuedAction & { grade: Grade; share: number | null; result: number | null };

/** The best values that are known in a position, by action. isOfAll: all actions were asked for, or are known. */
type Judged = { kind: JudgedView["kind"]; isExact: boolean; source: string; isComplete: boolean; isOfAll?: boolean; known: Map<number, Known> };

/**
 * What values mean. neutral: that of an even match; span: the largest difference from it, null if there is none; isExact:
 * they are exact integers; isResult: they are 1, 0 or -1; inPoints: they are points such as discs.
 */
type Scale = { neutral: number; span: number | null; isExact?: boolean; isResult?: boolean; inPoints?: boolean };

/** Values of actions, as the board shows them. */
type Values = { known: Map<number, Known>; scale: Scale };
type ValuesOfPosition = Values & { judged: Judged | null };

/** Which values a person chose: of perfect play or the judge, of the players, or none. */
type Mode = "perfect" | "adviser" | "none";

/** What a board draws of a match. */
type Drawn = Pick<MatchDescription, "legal" | "winning_squares"> & {
  squares: number[];
  plies: Pick<PlyDescription, "square" | "origin" | "turned">[];
} & Partial<Pick<MatchView, "to_move" | "person_seat" | "owners" | "marks" | "numbers" | "ko" | "count">>;

/** What a game without a board draws of it. */
type DrawnNumber = Pick<MatchDescription, "legal" | "plies" | "place" | "board">;

/** What may be chosen, and what is known of it. hint: the marked action; ghost: an action shown faintly. */
type Choice = Values & { isOpen: boolean; hint: number | null };
type Shown = Choice & { match: Drawn; isEdited: boolean; ghost: number | null; line?: number[][]; territory?: number[] | null };

/** An action that is marked on the board: an arrow between two squares, or a ring around one. */
type Mark = { from: number | null; to: number; number?: number };

/** An exercise. mistakes: the plies before each; number: of the one that is shown; isSolved: a better move was found, or shown. */
type Exercise = { mistakes: number[]; number: number; isSolved: boolean };

/** The moves that follow the position before a ply, and the views after each of them. step: the number of moves shown. */
type Line = { texts: string[]; names: string[]; views: MatchView[]; step: number };

/** What the page is for at present. play: nothing is valued; analyse: values, the course of the match, other positions. */
type Face = "play" | "analyse";

/** The match, or a variation of it, with what is known of it: see State. */
type LineOfPlay = Pick<State, "record" | "positions" | "judged" | "territories"> & { match: Match; answer: MatchView };

interface State {
  /** Draws everything; set when the page starts. */
  render: () => void;
  /** The game that is open. */
  game: GameView | null;
  /** Its board, or its buttons. */
  board: any;
  /** The match; null if there is none. */
  match: Match | null;
  /** What is shown of it. */
  answer: MatchView | null;
  /** What the text that it was loaded from says of it, and of how many of its `whole` plies; null: it was not loaded. */
  record: (RecordView & { text: string | null; whole: number; plies: number }) | null;
  /** The position before this ply is shown; null: the current one. */
  ply: number | null;
  /** The same for the position asked for last. */
  wanted: number | null;
  /** Views of positions, by the number of plies before them. */
  positions: Map<number, MatchView>;
  /** The best values that are known there. */
  judged: Map<number, Judged>;
  /** Who can be expected to own each square there, as the server answers. */
  territories: Map<number, number[]>;
  /** What is shown of an action until the answer comes; see board.js. */
  foreseen: Partial<Drawn> | null;
  /** The action that a person has to choose a second time, because it can end the match. */
  unconfirmed: number | "resign" | null;
  /** By how many points seat 0 leads if the stones are dead that the program found where both have passed. */
  proposed: number | null;
  /** The action that is marked as a hint. */
  hint: Choice["hint"];
  /** The squares of the actions that follow it; see HintView. */
  hintLine: number[][];
  /** Null outside of one. */
  exercise: Exercise | null;
  /** A line that is stepped through on the board. */
  line: Line | null;
  /** The match while a variation of it is shown, or the variation while the match is; null without a variation. */
  beside: (LineOfPlay & { isMatch: boolean }) | null;
  face: Face;
  /** A request that changes the match is running. */
  isBusy: boolean;
  /** By it another opponent takes over. */
  isTakingOver: boolean;
  /** Players are watched. */
  isRunning: boolean;
  /** A position is being set up on the board. */
  isEdited: boolean;
  /** Counts the games opened. Answers that belong to an earlier one are ignored. */
  visit: number;
  /** Counts the changes of the match in the same way. */
  changes: number;
}

/** A row of comparison/levels.csv, by column; null: empty. */
type LevelRow = StoryView["comparison"][number];

/** A run whose story is shown: its short name, colour and style of line. isAlone: no other run is shown. */
type Run = { story: StoryView; name: string; tone: string; dash: string | null; isAlone: boolean };

/** A table: its cells are texts and numbers. */
type Cells = (string | number)[];
type Table = { caption: string; head: string[]; rows: Cells[] };

/** A curve of a chart. dots: whether all points are drawn; isQuiet: it is not in the legend. */
type ChartPoint = { x: number; y: number; text: string; isMarked?: boolean; interval?: number[] };
type Series = { name: string; tone: string; points: ChartPoint[]; dash?: string | null; dots?: boolean; isQuiet?: boolean };

/** What all charts have. isRatio: see scales in charts.js; isExact: it is never smoothed. */
interface Chart {
  id: string;
  title: string;
  about: string;
  xLabel: string;
  yLabel: string;
  fixed?: { low: number; high: number };
  isRatio?: boolean;
  isWide?: boolean;
  isExact?: boolean;
  table?: Table;
  marks?: { x: number; text: string }[];
}

/** A curve by level of a chart. y: null for the rows of other curves. */
type Curve<Row> = { name: string; tone?: (run: Run) => string; dots?: boolean; y: (row: Row) => number | null; text: (row: Row) => string };

/** A chart of curves by level. lines: across it, for players that are not levels; head, cells: the table. */
type LevelChart<Row> = Omit<Chart, "xLabel" | "table"> & {
  xLabel?: string;
  rows: (run: Run) => Row[];
  curves: Curve<Row>[];
  lines?: { name: string; tone: string; y: number; text: string }[];
  head: string[];
  cells: (run: Run) => Cells[];
};

/** A number of plies, or a function from the number that is shown; showing the position after them. */
type Step = number | ((shown: number) => number);
type GoTo = (to: Step) => unknown;

// ---------------------------------------------------------------------- an exported page

/**
 * What the modules of an exported page need to know of its game, and how its opponents play: game.json. initial: the packed
 * position; set_up: boards without stones by the seat that is to move, none if nothing can be set up; dead_stones: the matches
 * with each colour to move by which dead stones are found, and the share of its crossings that a living chain keeps in them;
 * shown: the bit of what is packed for observations (packedShown) that each entry shows, of a number the lowest; limits: the
 * largest value of each entry, 1 for a bit.
 */
interface Description {
  view: BoardGame;
  offer: OpponentsView;
  rules: RulesView;
  ways: Record<string, Way>;
  judge: string;
  seconds: number;
  match: ServedMatch;
  action: ActionData;
  ply: PlyData;
  key: string;
  initial: string;
  set_up: string[];
  dead_stones: { playouts: number; survival: number };
  shown: number[];
  limits: number[];
  num_squares: number;
  has_stones: boolean;
  num_actions: number;
  pass_action: number | null;
  texts: string[][];
  words: (string | null)[];
  names_squares: boolean;
  pointed: number[][];
  is_known: boolean[] | null;
  separator: string;
  writes_passes: boolean;
  mark_fields: string[];
  number_fields: string[];
  ko_field: string | null;
  margin_unit: number;
  most_points: number | null;
  ends: Ends;
  points_per_value: number | null;
  network: Network;
  arrays: { name: string; type: string; length: number }[];
}

/** How an opponent plays: by one ply, alpha-beta or tree search with the agent or with random matches, at random, or as a strength does. */
type Way = { kind: "agent" | "search" | "random" } | ({ kind: "tree_search"; rule: Rule } & Evaluating) | Strong | StrongTree;
type Strong = { kind: "strength"; evaluation: "agent" | "none" | "points"; ends: Ends; depth: number; slack: number; temperature: number | null; notices: number };
type StrongTree = { kind: "tree_strength"; rule: Rule; simulations: number; temperature: number | null; notices: number } & Evaluating;
/** By what tree search values positions: the agent, whose values are mixed with this share of random matches, or random matches. */
type Evaluating = { evaluation: "agent" | "rollouts"; rollout_share: number; rollouts: number };

/** The value of a finished match: of a win, and of each point of the margin. */
type Ends = { win: number; point: number };

/** A rule of tree search, with its constants. */
type Puct = { name: "puct"; c_init: number; c_base: number; unvisited: number };
type Uct = { name: "uct"; c: number };
type Rule = Puct | Uct;

/** A network. */
type Network = TableNetwork | LayerNetwork;
/** block: weights that stand together (exported_network.py); phases: in each set of rows; marks, upright: -1 without; sets: planes, see selfplay/games/pattern_planes.py. */
type TableNetwork = {
  kind: "tables"; weights_in_row: number; block: number; phases: number; parities: number; squares: number; marks: number; upright: number; sets: number[];
};
/** group: the outputs whose weights stand together (compute/place_products.py); memory: its numbers; value: the place of the value in it. */
type LayerNetwork = { kind: "layers"; steps: LayerStep[]; group: number; memory: number; value: number };
/** A Step of selfplay/compute/layer_steps.py. */
type LayerStep = Record<"kind" | "source" | "target" | "outputs" | "inputs" | "weights" | "places" | "num_places" | "taps" | "added" | "rectifies", number>;

/** The fields of a position, seen by the player to move: boards, numbers, and tuples of numbers. */
type Position = Record<string, any>;
/** player: the seat that is to move; result: to seat 0, of a match that is over; isEnded: by people, before its rules end it. */
type GameState = { position: Position; player: number; isOver: boolean; result: number; isEnded?: boolean };

/** The random numbers of a ply: from a purpose to 64 random bits. */
type Draws = (purpose: number) => bigint;

/** Values positions to the player who is not to move. */
type Evaluation = { value: (position: Position) => number };

/** Evaluates positions for tree search: the value to the player to move, and the logits of the actions. */
type Evaluator = { evaluation: (position: Position, bits: bigint) => { value: number; logits: number[] } };

/** What a tree search finds, by action: see tree_search.js. */
type TreeSearched = { values: number[]; proved: boolean[]; visits: number[]; priors: number[]; action: number };

/**
 * What a player finds in a position; values is null if it values no actions. isExact: they are those of perfect play; proved:
 * which of them are; isUneven: whether its search divides its time among the actions.
 */
type Found = { values: number[] | null; action: number; isExact?: boolean; proved?: boolean[]; isUneven?: boolean };
type Estimate = { values: number[]; isExact: boolean; proved: boolean[] };
type Participant = { offer: OfferedPlayer; consider: (state: GameState, draws: Draws) => Found };
type Participants = { opponent: Participant; partner: Participant | null; adviser: Participant | null; judge: Participant };
