import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { numbersAs } from "../api/decimals.ts";
import type { View } from "../api/view.ts";
import { botsOf } from "../bots/bot.ts";
import { houseAddress } from "../core/ids.ts";
import { isInBlock, nextDueAt } from "../core/schedule.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import { type History, MARK, timeAt } from "./history.ts";
import type { Server } from "./server.ts";

/** What the page is about to show, and cannot yet. */
export type Phase =
  | { readonly kind: "opening"; readonly what: string; readonly done: number; readonly commands: number }
  | { readonly kind: "failed"; readonly message: string; readonly hint: string }
  | { readonly kind: "open" };

export const phase = signal<Phase>({ kind: "opening", what: "the page", done: 0, commands: 0 });
export const history = signal<History | null>(null);
/** The exchange behind the page; null when the history is a file's. */
export const server = signal<Server | null>(null);
/** The file behind the page. */
export const file = signal<{ readonly name: string; readonly bytes: Uint8Array } | null>(null);
/** Whether the server can be heard; its silence is said. */
export const isConnected = signal(true);
/** The sequence up to which a server has yet to tell what was done before it was asked. */
export const toldUpTo = signal(0);
/** What the user should know of the history, such as that a file is damaged. */
export const notice = signal<string | null>(null);
/** How many rows the page stands behind; null when it follows the end. */
export const cursor = signal<number | null>(null);
/** Raised whenever somebody asks to follow the end. */
export const followed = signal(0);
/** Raised whenever rows were added. */
export const revision = signal(0);

/** What is looked at. */
export const chosenMarket = signal(0);
export const outcome = signal<"YES" | "NO">("YES");
export const chosenAccount = signal(0);
export const chosenOrder = signal(0);
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

/** The widths from and to which `style.css` shows all panes, and but one. */
const hasRoom = matching("(min-width: 2200px)");
const isNarrow = matching("(max-width: 900px)");
/** What is drawn on a canvas is drawn again when this changes. */
export const isDark = matching("(prefers-color-scheme: dark)");
const ALWAYS: ReadonlySet<PaneName> = new Set(["journal", "book", "chart"]);

/** Whether a pane is in sight: what is not need not be worked out. */
export function isShown(name: PaneName): boolean {
  const { value: chosen } = pane;
  if (hasRoom.value || chosen === name) return true;
  if (isNarrow.value) return false;
  return ALWAYS.has(name) || (name === "order" && ALWAYS.has(chosen));
}

/**
 * The exchange where the cursor stands. It is read at once and never kept: it moves with the cursor. A component is
 * handed this rather than the state alone, which stays the same object when it changes.
 */
export interface Moment {
  readonly exchange: Exchange;
  readonly state: State;
  readonly now: Millis;
  readonly sequence: number;
  /** How many rows lie before. */
  readonly rows: number;
  readonly isHead: boolean;
  readonly view: View;
}

const numbers = numbersAs("number");

/** Null before anything is open. */
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

/** The market that the panes show: the chosen one, or that with most volume. */
export const market = computed(() => {
  const { value: at } = moment;
  if (at === null) return null;
  const { markets } = at.state;
  const chosen = markets.find(chosenMarket.value);
  if (chosen !== undefined) return chosen;
  let busiest = markets.find(1) ?? null;
  for (const each of markets) {
    if (busiest === null || each.trades.size > busiest.trades.size) busiest = each;
  }
  return busiest;
});

/** How much has come of what was done before the server was asked, 0 to 1. */
export const caughtUp = computed(() => {
  revision.value;
  const { value: shown } = history;
  if (shown === null) return 0;
  const [first, { sequence }] = [shown.opening.sequence, shown.head];
  return sequence >= toldUpTo.value ? 1 : (sequence - first) / (toldUpTo.value - first);
});

/** Whether commands can be given: only to a running exchange, and not to its past. */
export const canAct = computed(() => server.value !== null && cursor.value === null && isConnected.value);

/** Shows another history from its end; of the same exchange, what was looked at is looked at on. */
export function show(next: History): void {
  const isSame = server.value !== null && history.value?.opening.config.seed === next.opening.config.seed;
  history.value = next;
  cursor.value = null;
  if (!isSame) {
    chosenMarket.value = 0;
    chosenAccount.value = 0;
    chosenOrder.value = 0;
  }
  revision.value += 1;
  phase.value = { kind: "open" };
}

/** Goes to the end, and follows it. */
export function followEnd(): void {
  cursor.value = null;
  followed.value += 1;
}

/** Stands behind so many rows; behind all of them it follows the end. */
export function moveTo(rows: number): void {
  const { value: shown } = history;
  if (shown === null) return;
  const to = Math.max(0, Math.min(shown.count, Math.round(rows)));
  cursor.value = to === shown.count ? null : to;
}

/** Moves by some rows. */
export function step(by: number): void {
  const { value: at } = moment;
  if (at !== null) moveTo(at.rows + by);
}

/** Moves behind the next row with a mark, or the one before. */
export function stepToMark(direction: 1 | -1, mark: number = MARK.trade): void {
  const [{ value: at }, { value: shown }] = [moment, history];
  if (at === null || shown === null) return;
  for (let row = at.rows - 1 + direction; row >= 0 && row < shown.count; row += direction) {
    if ((shown.marks.at(row) & mark) !== 0) {
      moveTo(row + 1);
      return;
    }
  }
  moveTo(direction > 0 ? shown.count : 0);
}

/**
 * Moves behind the last row of the sequence that a text names, of which there are more where a snapshot was restored.
 * Answers what is wrong with the text, or nothing.
 */
export function moveToSequence(text: string): string {
  const { value: shown } = history;
  if (shown === null) return "";
  const asked = /^\d+$/.test(text) ? Number(text) : null;
  const first = shown.opening.sequence;
  let last = first;
  for (let row = shown.count; row >= 0; row -= 1) {
    const sequence = row === 0 ? first : shown.sequences.at(row - 1);
    if (sequence === asked) {
      moveTo(row);
      return "";
    }
    last = Math.max(last, sequence);
  }
  return `expected a sequence from ${first} to ${last}, found ${text === "" ? "nothing" : text}`;
}

/** How many rows lie at or before a moment, in a history whose time never goes back. */
export function rowsUntil(shown: History, time: number): number {
  let low = 0;
  let high = shown.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shown.times.at(middle) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first and the last moment of a history. */
export const spanOf = (shown: History): readonly [Millis, Millis] => [
  timeAt(shown, 0),
  timeAt(shown, shown.count),
];

/** Opens an order, wherever its number or id is clicked. */
export function openOrder(number: number): void {
  chosenOrder.value = number;
  pane.value = "order";
}

export function openAccount(number: number): void {
  chosenAccount.value = number;
  pane.value = "accounts";
}

/** What accounts are called that have a name, by address: dev accounts, bots, the house's own. */
const names = computed(() => {
  const { value: shown } = history;
  const found = new Map<Address, string>();
  if (shown === null) return found;
  const { seed } = shown.opening.config;
  for (const { address, name } of botsOf(seed, null)) found.set(address, name);
  for (const name of ["faucet", "fees"]) found.set(houseAddress(seed, name), name);
  for (const [index, address] of shown.devAccounts.entries()) found.set(address, `dev-${index}`);
  return found;
});

/** The name of an account, or the beginning of its address. */
export function accountName(state: State, number: number): string {
  const address = state.accounts.find(number)?.address ?? "";
  return names.value.get(address) ?? `${address.slice(0, 8)}…`;
}

/** When time alone causes something next; null where nothing is to come, and between the rows of one block. */
export const nextTimer = (state: State): Millis | null => (isInBlock(state) ? null : nextDueAt(state));

/** Lets the page draw and take input, without the wait that timers and hidden pages have. */
export const aTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

/** Calls `draw` once a frame at most, whenever what it reads has changed. */
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
