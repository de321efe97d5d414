import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { numbersAs, type View } from "../api/view.ts";
import { botsOf } from "../bots/bot.ts";
import { houseAddress } from "../core/ids.ts";
import { isInBlock, nextDueAt } from "../core/schedule.ts";
import type { State } from "../core/state.ts";
import { countWhile } from "../core/table.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import { type History, MARK, timeAt } from "./history.ts";
import type { Server } from "./server.ts";

/** State of opening a history. */
type Phase =
  | { readonly kind: "opening"; readonly what: string; readonly done: number; readonly commands: number }
  | { readonly kind: "failed"; readonly message: string; readonly hint: string }
  | { readonly kind: "open" };

export const phase = signal<Phase>({ kind: "opening", what: "the page", done: 0, commands: 0 });
export const history = signal<History | null>(null);
/** Server of the exchange; null if the history is from a file. */
export const server = signal<Server | null>(null);
/** File of the history; null if it is from a server. */
export const file = signal<{ readonly name: string; readonly bytes: Uint8Array } | null>(null);
/** Whether the server is connected. */
export const isConnected = signal(true);
/** Sequence of the exchange when the stream was opened, up to which it sends earlier history; infinite until it is opened again. */
export const initialSequence = signal(0);
/** Notice about the history, such as a damaged file. */
export const notice = signal<string | null>(null);
/** Number of rows before the cursor; null if it follows the end. */
export const cursor = signal<number | null>(null);
/** Incremented whenever the user asks to follow the end. */
export const followed = signal(0);
/** Incremented whenever rows were added. */
export const revision = signal(0);
/** Incremented whenever a request may have changed snapshots, injected faults or bots of the server. */
export const settingsRevision = signal(0);

// Selection of the user.

export const chosenMarket = signal(0);
export const outcome = signal<"YES" | "NO">("YES");
export const chosenAccount = signal(0);
export const chosenOrder = signal(0);
/** Rows that the filter of the journal has found; null without a filter. */
export const foundRows = signal<readonly number[] | null>(null);
/** Row whose details are open: follows the cursor, but not rows that are added; null if closed. */
export const openedRow = signal<number | null>(null);
export const pane = signal<PaneName>("book");

export const PANES = {
  journal: "Journal",
  book: "Book",
  chart: "Chart",
  order: "Order",
  accounts: "Accounts",
  chain: "Chain",
  clock: "Clock",
  auth: "Why 401",
  session: "Session",
} as const;
export type PaneName = keyof typeof PANES;

const matching = (query: string): ReadonlySignal<boolean> => {
  const list = matchMedia(query);
  const is = signal(list.matches);
  list.addEventListener("change", () => {
    is.value = list.matches;
  });
  return is;
};

/** Widths at which `style.css` shows all panes, and only one. */
const isWide = matching("(min-width: 2200px)");
const isNarrow = matching("(max-width: 900px)");
/** Canvases are redrawn when this changes. */
export const isDark = matching("(prefers-color-scheme: dark)");
const ALWAYS: ReadonlySet<PaneName> = new Set(["journal", "book", "chart"]);

/** Whether a pane is visible; hidden panes need not be computed. */
export function isShown(name: PaneName): boolean {
  const { value: chosen } = pane;
  if (isWide.value || chosen === name) return true;
  if (isNarrow.value) return false;
  return ALWAYS.has(name) || (name === "order" && ALWAYS.has(chosen));
}

/**
 * The exchange at the cursor. It must be read at once and not stored, because it moves with the cursor. Components take
 * this object instead of the state, because the state remains the same object when it changes.
 */
export interface Moment {
  readonly exchange: Exchange;
  readonly state: State;
  readonly now: Millis;
  readonly sequence: number;
  /** Number of rows before the cursor. */
  readonly rows: number;
  readonly isHead: boolean;
  readonly view: View;
}

const numbers = numbersAs("number");

/**
 * The open history. Panes and keys need not check for one, because they work only when `phase` is open. A component that
 * shows its rows reads `revision` too, because the history remains the same object when rows are added.
 */
export const openHistory = (): History => history.value as History;

/** The exchange at the cursor of the open history. */
export const openMoment = (): Moment => moment.value as Moment;

/** Null before a history is open. */
export const moment: ReadonlySignal<Moment | null> = computed(() => {
  revision.value;
  const { value: shown } = history;
  if (shown === null) return null;
  const rows = Math.min(cursor.value ?? shown.count, shown.count);
  const exchange = shown.at(rows);
  const { state, now, sequence } = exchange;
  const isHead = rows === shown.count;
  return { exchange, state, now, sequence, rows, isHead, view: { state, numbers } };
});

/** Returns all markets, also those after the cursor. */
export function allMarkets() {
  revision.value;
  return openHistory().exchange.state.markets;
}

/** Number of the market that the panes show at any cursor: the chosen one, or the one with the most trades at the end. */
export const shownMarket = computed(() => {
  if (allMarkets().find(chosenMarket.value) !== undefined) return chosenMarket.value;
  let [busiest, max] = [1, 0];
  for (const { number, trades } of allMarkets()) {
    if (trades.size > max) [busiest, max] = [number, trades.size];
  }
  return busiest;
});

/** The market that the panes show; null if it is created after the cursor. */
export const market = computed(() => openMoment().state.markets.find(shownMarket.value) ?? null);

/** Part of the earlier history that the stream has sent, 0 to 1. */
export const loadedPart = computed(() => {
  revision.value;
  const { opening, exchange } = openHistory();
  const [first, { sequence }] = [opening.sequence, exchange];
  return sequence >= initialSequence.value ? 1 : (sequence - first) / (initialSequence.value - first);
});

/** Whether commands can be sent: only to a running exchange, and only at the end. */
export const canAct = computed(() => server.value !== null && cursor.value === null && isConnected.value);

/** Shows another history at its end, a report with the market of its last line; keeps the selection in the same exchange. */
export function show(next: History): void {
  const isSame = server.value !== null && history.value?.opening.config.seed === next.opening.config.seed;
  history.value = next;
  cursor.value = null;
  openedRow.value = null;
  if (!isSame) {
    chosenMarket.value = server.value === null ? (next.markets.findLast((number) => number !== 0) ?? 0) : 0;
    chosenAccount.value = 0;
    chosenOrder.value = 0;
  }
  revision.value += 1;
  phase.value = { kind: "open" };
}

/** Moves to the end and follows it. */
export function followEnd(): void {
  moveTo(openHistory().count);
  followed.value += 1;
}

/**
 * Names the position after some rows: in a report by its line, as `--at` does, of which the first is the opening; in a running
 * exchange, whose reports have other lines, by the row.
 */
export function positionAfter(rows: number) {
  const [noun, number] = server.value === null ? ["line", rows + 1] : ["row", rows];
  return { number, text: `${noun} ${number}` };
}

/** Moves the cursor after some rows; follows the end if these are all. */
export function moveTo(rows: number): void {
  const { count } = openHistory();
  const to = Math.max(0, Math.min(count, Math.round(rows)));
  cursor.value = to === count ? null : to;
  if (openedRow.value !== null) openedRow.value = to - 1;
}

/** Opens the details of the row before the cursor, or closes them. */
export function toggleDetails(): void {
  openedRow.value = openedRow.value === null ? openMoment().rows - 1 : null;
}

/** Moves the cursor by some rows. */
export const step = (by: number): void => moveTo(openMoment().rows + by);

/** Moves the cursor after the next or previous row that the filter has found; without a filter, of a trade. */
export function stepToMatch(direction: 1 | -1): void {
  const { count, marks } = openHistory();
  const { value: found } = foundRows;
  const isMatch = (row: number): boolean =>
    found === null
      ? ((marks[row] ?? 0) & MARK.trade) !== 0
      : found[countWhile(found.length, (index) => (found[index] ?? 0) < row)] === row;
  let row = openMoment().rows - 1 + direction;
  while (row >= 0 && row < count && !isMatch(row)) row += direction;
  moveTo(row + 1);
}

/**
 * Moves the cursor after the last row with a sequence; several rows have it if a snapshot was restored. Returns an error
 * message, or an empty text.
 */
export function moveToSequence(text: string): string {
  const { opening, sequences } = openHistory();
  const { sequence: first } = opening;
  const asked = /^\d+$/.test(text) ? Number(text) : -1;
  const row = sequences.lastIndexOf(asked);
  if (row >= 0 || asked === first) {
    moveTo(row + 1);
    return "";
  }
  const last = sequences.reduce((max, sequence) => Math.max(max, sequence), first);
  return `expected a sequence from ${first} to ${last}, found ${text === "" ? "nothing" : text}`;
}

/** Returns the number of rows at or before a moment, in a history whose time never goes back. */
export const rowsUntil = ({ count, times }: History, time: number): number =>
  countWhile(count, (row) => (times[row] ?? 0) <= time);

/** Returns the first and the last moment of a history. */
export const spanOf = (shown: History): readonly [Millis, Millis] => [
  timeAt(shown, 0),
  timeAt(shown, shown.count),
];

export function openOrder(number: number): void {
  chosenOrder.value = number;
  pane.value = "order";
}

export function openMarket(number: number): void {
  chosenMarket.value = number;
  if (!isShown("book")) pane.value = "book";
}

export function openAccount(number: number): void {
  chosenAccount.value = number;
  pane.value = "accounts";
}

/** Names of dev accounts, bots, faucet and fee account, by address. */
const names = computed(() => {
  const { opening, origin } = openHistory();
  const found = new Map<Address, string>();
  const { seed } = opening.config;
  for (const { address, name } of botsOf(seed, null)) found.set(address, name);
  for (const name of ["faucet", "fees"]) found.set(houseAddress(seed, name), name);
  for (const [index, address] of origin.devAccounts.entries()) found.set(address, `dev-${index}`);
  return found;
});

/** Returns the name of an account, or its abbreviated address. */
export function accountName(state: State, number: number): string {
  const address = state.accounts.find(number)?.address ?? "";
  return names.value.get(address) ?? `${address.slice(0, 8)}…`;
}

/** Returns when time alone causes the next command; null if none is due, and between the rows of one block. */
export const nextTimer = (state: State): Millis | null => (isInBlock(state) ? null : nextDueAt(state));

/** Yields to drawing and input, without the delay of timers and hidden pages. */
export const yieldToPage = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

/** Calls `draw` when signals that it reads have changed, at most once per frame. Returns a function that stops it. */
export function onFrame(draw: () => void): () => void {
  let frame = 0;
  let stop = (): void => {};
  const run = (): void => {
    frame = 0;
    stop();
    let isFirst = true;
    stop = effect(() => {
      if (isFirst) draw();
      else if (frame === 0) frame = requestAnimationFrame(run);
      isFirst = false;
    });
  };
  run();
  return () => {
    stop();
    cancelAnimationFrame(frame);
  };
}
