import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useReducer, useRef } from "preact/hooks";
import type { StreamRequest } from "../../api/event-stream.ts";
import { counted } from "../../core/format.ts";
import { numberOf } from "../../core/ids.ts";
import type { State } from "../../core/state.ts";
import type { ReplayedLine } from "../../history/journal-replay.ts";
import type { LineWords } from "../../history/words.ts";
import { curlText, stepText } from "../copy.ts";
import { type History, isRequest, MARK } from "../history.ts";
import { useListPlace } from "../list-place.ts";
import { requests } from "../live.ts";
import { accountName, cursor, history, isShown, moment, moveTo, revision, server } from "../model.ts";
import {
  AccountLink,
  bound,
  Choice,
  clockText,
  Nothing,
  nameOf,
  OrderLink,
  Outcome,
  Pane,
  useAction,
  useMarkets,
} from "../parts.tsx";
import { RowFilter } from "../row-filter.ts";
import { RowWords, wordsRevision } from "../row-words.ts";

const KINDS = {
  all: ["all", 0],
  trades: ["trades", MARK.trade],
  refused: ["refused", MARK.refusal | MARK.trouble],
  blocks: ["blocks", MARK.block],
  faults: ["faults", MARK.fault],
  clock: ["clock", MARK.clock],
} as const;
type Kind = keyof typeof KINDS;

/** What the rows are filtered by, as the controls have it. */
function useChoice() {
  return {
    text: useSignal(""),
    kind: useSignal<Kind>("all"),
    account: useSignal(0),
    place: useSignal(0),
  };
}
type FilterChoice = ReturnType<typeof useChoice>;

/** Every command and every refusal: when, who, what, and what came of it. */
export function JournalPane() {
  revision.value;
  const { value: shown } = history;
  const choice = useChoice();
  const filter = useComputed(() => {
    const { value: own } = history;
    const [account, market, text] = [choice.account.value, choice.place.value, choice.text.value];
    const marks = KINDS[choice.kind.value][1];
    const isAll = account + market + marks === 0 && text.trim() === "";
    return own === null || isAll
      ? null
      : new RowFilter(own, { account, market, marks, text }, requests, accountName);
  });
  const found = useFound(filter);
  const chosen = useSignal<number | null>(null);
  if (shown === null || !isShown("journal")) return null;
  const count = found === null ? shown.count : found.length;
  return (
    <Pane name="journal" tools={<Count shown={shown} filter={filter.value} />}>
      <Filters shown={shown} choice={choice} />
      <Rows
        shown={shown}
        count={count}
        rowAt={(index) => (found === null ? index : (found[index] ?? 0))}
        onChoose={(row) => {
          chosen.value = row;
          moveTo(row + 1);
        }}
      />
      {chosen.value === null || chosen.value >= shown.count ? null : (
        <Detail
          shown={shown}
          row={chosen.value}
          onClose={() => {
            chosen.value = null;
          }}
        />
      )}
    </Pane>
  );
}

/** How many rows there are, of how many, and how far the search has come. */
function Count({ shown, filter }: { readonly shown: History; readonly filter: RowFilter | null }) {
  const searched =
    filter === null || filter.done === 1 ? "" : `, ${Math.floor(filter.done * 100)} % searched`;
  const rows = filter === null ? "" : `${filter.rows.length} of `;
  return <span class="dim number" role="status">{`${rows}${counted(shown.count, "row")}${searched}`}</span>;
}

function Filters({
  shown,
  choice: { text, kind, account, place },
}: {
  readonly shown: History;
  readonly choice: FilterChoice;
}) {
  const kinds = (Object.keys(KINDS) as Kind[]).map((each) => [each, KINDS[each][0]] as const);
  return (
    <div class="filters">
      <input
        id="filter"
        type="search"
        aria-label="Filter by text"
        placeholder="filter (/): text, code, order"
        {...bound(text)}
      />
      <Choice label="Kind of row" of={kind} options={kinds} />
      <Choice label="Account" of={account} options={useActors(shown)} />
      <Choice label="Market" of={place} options={[[0, "all markets"], ...useMarkets()]} />
    </div>
  );
}

/** Searches while there is something to search, a while in each frame; null where nothing is filtered. */
function useFound(filter: ReadonlySignal<RowFilter | null>): readonly number[] | null {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const frame = useRef(0);
  useSignalEffect(() => {
    revision.value;
    const { value: own } = filter;
    cancelAnimationFrame(frame.current);
    if (own === null) return;
    const search = (): void => {
      const isDone = own.search();
      redraw();
      if (!isDone) frame.current = requestAnimationFrame(search);
    };
    search();
  });
  return filter.value?.rows ?? null;
}

const MAX_ACTORS = 300;

/** Who did something, oldest account first. */
function useActors(shown: History): (readonly [number, string])[] {
  const { everyActor } = shown;
  return useMemo(() => {
    const { state } = shown.head;
    const named = [...everyActor]
      .sort((a, b) => a - b)
      .slice(0, MAX_ACTORS)
      .map((number) => [number, accountName(state, number)] as const);
    return [[0, "all accounts"], ...named];
  }, [shown, everyActor.size]);
}

/** The rows that are in sight, of however many there are. All are of one height: where each is follows from its place. */
function Rows({
  shown,
  count,
  rowAt,
  onChoose,
}: {
  readonly shown: History;
  readonly count: number;
  readonly rowAt: (index: number) => number;
  readonly onChoose: (row: number) => void;
}) {
  const words = useMemo(() => new RowWords(shown), [shown]);
  const rows = moment.value?.rows ?? 0;
  const place = indexOf(rows - 1, count, rowAt);
  const { scroller, handlers, spacer, height, shift, first, last, isTwoLined } = useListPlace(
    count,
    place,
    cursor.value === null,
  );
  wordsRevision.value;
  const inSight = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  words.want(inSight.map(rowAt));
  if (count === 0) {
    return (
      <Nothing>
        {shown.count === 0 ? "Nothing has happened since the exchange was opened." : "No row is like that."}
      </Nothing>
    );
  }
  return (
    <div class={isTwoLined ? "rows two-lined" : "rows"} ref={scroller} {...handlers}>
      <div style={{ blockSize: `${spacer}px` }}>
        <ol
          aria-label="Rows of the journal"
          style={{
            blockSize: `${height}px`,
            insetBlockStart: 0,
            transform: `translateY(${shift}px)`,
          }}
        >
          {inSight.map((index) => {
            const row = rowAt(index);
            return (
              <li key={row} aria-setsize={count} aria-posinset={index + 1}>
                <Row
                  shown={shown}
                  row={row}
                  told={words.get(row)}
                  isHere={row === rows - 1}
                  onChoose={onChoose}
                />
              </li>
            );
          })}
        </ol>
      </div>
    </div>
  );
}

function Row({
  shown,
  row,
  told,
  isHere,
  onChoose,
}: {
  readonly shown: History;
  readonly row: number;
  /** Null while its words are worked out. */
  readonly told: LineWords | null;
  readonly isHere: boolean;
  readonly onChoose: (row: number) => void;
}) {
  const line = shown.lines.at(row);
  const request = isRequest(line) ? (line.d as StreamRequest) : requests.get(row);
  const actor = shown.actors.at(row);
  const { text = "…", became = "", isTrouble = false } = told ?? {};
  // What comes of it is to be in sight, which the long name of a market would push away.
  const [what = "", place] = text.split(/ in (?=[a-z0-9-]+$)/);
  const slug = place ?? shown.head.state.markets.find(shown.markets.at(row))?.slug ?? "";
  return (
    <button
      type="button"
      class={isTrouble ? "row-of wrong-row" : "row-of"}
      aria-current={isHere ? "true" : undefined}
      title={became === "" ? text : `${text} → ${became}`}
      onClick={() => onChoose(row)}
    >
      <span class="place number dim">{row + 1}</span>
      <span class="number dim">{clockText(shown.times.at(row))}</span>
      <span class="who">{actor > 0 ? nameOf(actor) : (told?.actor?.slice(0, 8) ?? "")}</span>
      <span class="what">
        <bdi>{whatText(shown, row, what)}</bdi>
        {became === "" ? null : <span class={isTrouble ? "wrong" : "became"}>{` → ${became}`}</span>}
        <span class="dim">{slug === "" ? "" : ` ${slug}`}</span>
      </span>
      <span class="number dim">{request === undefined ? "" : requestText(request)}</span>
    </button>
  );
}

/** How long a request took, and what was done to it on purpose. */
const requestText = ({ ms, fault }: StreamRequest): string =>
  `${fault === undefined ? "" : `${fault}, `}${ms.toFixed(1)} ms`;

/** Of a request that no journal keeps, what it was. */
function whatText(shown: History, row: number, text: string): string {
  const line = shown.lines.at(row);
  if (!isRequest(line)) return text;
  const { method, path, status, code } = line.d as StreamRequest;
  return `${method} ${path} → ${status}${code === undefined ? "" : ` ${code}`}`;
}

/** Where a row stands in the list: it, or the one before. */
function indexOf(row: number, count: number, rowAt: (index: number) => number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rowAt(middle) <= row) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** All of one row: its request, its data, what it caused, and the same to try elsewhere. */
function Detail({
  shown,
  row,
  onClose,
}: {
  readonly shown: History;
  readonly row: number;
  readonly onClose: () => void;
}) {
  const action = useAction();
  let found: { told: ReplayedLine; orders: number[]; step: string } | null = null;
  shown.tell(row, row + 1, (_row, told, state) => {
    const named = (address: string) => nameIn(state, address);
    found = { told, orders: ordersIn(told, state), step: stepText(told, state, named) };
  });
  const { value: at } = moment;
  if (found === null || at === null) return null;
  const { told, orders, step } = found as { told: ReplayedLine; orders: number[]; step: string };
  const request = requests.get(row);
  const base = server.value === null ? "http://localhost:3000" : location.origin + server.value.prefix;
  const curl = curlText(told, at, base);
  const copy = (what: string, text: string): Promise<void> =>
    action.run(async () => {
      await navigator.clipboard.writeText(text);
      return `${what} copied`;
    });
  const actor = shown.actors.at(row);
  return (
    <aside class="detail" aria-label={`Row ${row + 1}`}>
      <header>
        <h3>{`Row ${row + 1}: ${told.line.k}`}</h3>
        {actor > 0 ? <AccountLink number={actor} /> : null}
        {orders.slice(0, 6).map((order) => (
          <OrderLink key={order} number={order} />
        ))}
        <button type="button" onClick={() => void copy("the step", step)} title={step}>
          Copy as step
        </button>
        <button type="button" disabled={curl === null} onClick={() => void copy("the command", curl ?? "")}>
          Copy as curl
        </button>
        <button type="button" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      <Outcome of={action} />
      <pre>
        {JSON.stringify(
          {
            ...(request === undefined ? {} : { request }),
            data: told.line.d,
            ...(told.command === null ? {} : { command: told.command }),
            outcome:
              told.outcome.kind === "fails"
                ? { kind: "fails", message: told.outcome.error.message }
                : told.outcome,
          },
          null,
          2,
        )}
      </pre>
    </aside>
  );
}

/** What a scenario calls an account. */
function nameIn(state: State, address: string): string {
  const number = state.accountByAddress.get(address) ?? 0;
  const name = accountName(state, number);
  return name.endsWith("…") ? `wallet-${number}` : name;
}

/** The orders that a row names. */
function ordersIn({ command, outcome }: ReplayedLine, state: State): number[] {
  const orders = new Set<number>();
  if (command?.kind === "cancelOrder") orders.add(numberOf(state.idPrefixes.order, command.orderId));
  if (outcome.kind === "accepted") {
    for (const event of outcome.events) {
      if ("order" in event && typeof event.order === "number") orders.add(event.order);
      if (event.kind === "orderTraded") for (const each of [event.taker, event.maker]) orders.add(each);
    }
  }
  return [...orders].filter((number) => state.orders.find(number) !== undefined);
}
