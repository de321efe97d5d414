import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import type { StreamRequest } from "../../api/event-stream.ts";
import { counted, shortened } from "../../core/format.ts";
import { hex8 } from "../../core/hash.ts";
import { numberOf } from "../../core/ids.ts";
import type { State } from "../../core/state.ts";
import { countWhile } from "../../core/table.ts";
import type { LineDescription } from "../../history/describe-line.ts";
import type { ReplayedLine } from "../../history/journal-replay.ts";
import { curlText, stepText } from "../copy.ts";
import { isRequest, MARK } from "../history.ts";
import * as model from "../model.ts";
import {
  AccountLink,
  bindTo,
  Choice,
  EmptyNote,
  MarketLink,
  nameOf,
  OrderLink,
  Pane,
  SCROLLS,
  setTo,
  Time,
  useAccounts,
  useAction,
  useMarkets,
} from "../parts.tsx";
import {
  describeRows,
  descriptionsRevision,
  filterRows,
  type RowFilter,
  replyText,
  useVisibleRows,
} from "../rows.ts";
import { requests } from "../sources.ts";

/** Kinds of rows, with the marks of which they have one; 0 for all rows. */
const KINDS = {
  all: 0,
  trades: MARK.trade,
  refused: MARK.refusal | MARK.problem,
  blocks: MARK.block,
  faults: MARK.fault,
  clock: MARK.clock,
} as const;
type Kind = keyof typeof KINDS;
const KIND_OPTIONS = (Object.keys(KINDS) as Kind[]).map((each) => [each, each] as const);

/** Filter values of the controls. */
const useChoice = () => ({
  text: useSignal(""),
  kind: useSignal<Kind>("all"),
  account: useSignal(0),
  market: useSignal(0),
});

/** All commands and refusals: time, account, description and result. */
export function JournalPane() {
  model.revision.value;
  const choice = useChoice();
  const filter = useComputed(() => {
    const [account, market, text] = [choice.account.value, choice.market.value, choice.text.value];
    const marks = KINDS[choice.kind.value];
    // Faults mark rows after they were added.
    if (choice.kind.value === "faults") model.settingsRevision.value;
    const isAll = account + market + marks === 0 && text.trim() === "";
    return isAll
      ? null
      : filterRows(model.openHistory(), { account, market, marks, text }, requests, model.accountName);
  });
  const found = useFound(filter);
  if (!model.isShown("journal")) return null;
  const { count } = model.openHistory();
  const { value: opened } = model.openedRow;
  const tools = (
    <span class="dim number" role="status" aria-atomic="false">
      {countOf(filter.value)}
    </span>
  );
  return (
    <Pane name="journal" tools={tools}>
      <Filters {...choice} />
      <Rows
        count={found === null ? count : found.length}
        rowAt={(index) => (found === null ? index : (found[index] ?? 0))}
        onChoose={(row) => {
          model.openedRow.value = row;
          model.moveTo(row + 1);
        }}
      />
      {opened === null || opened < 0 || opened >= count ? null : <Detail row={opened} />}
    </Pane>
  );
}

/** Returns the number of rows found and the progress of the search, and the total, which is not announced when rows are added. */
function countOf(filter: RowFilter | null) {
  const all = <span aria-live="off">{counted(model.openHistory().count, "row")}</span>;
  if (filter === null) return all;
  const done = filter.done();
  const searched = done === 1 ? "" : `, ${Math.floor(done * 100)} % searched`;
  return [`${filter.rows.length} of `, all, searched];
}

function Filters({ text, kind, account, market }: ReturnType<typeof useChoice>) {
  const { allActors } = model.openHistory();
  return (
    <div class="filters">
      <input
        id="filter"
        type="search"
        aria-label="Filter by text"
        placeholder="filter (/): text, code, id"
        {...bindTo(text)}
      />
      <Choice label="Kind of row" of={kind} options={KIND_OPTIONS} />
      <Choice
        label="Account"
        of={account}
        options={useAccounts([...allActors], "all accounts", account.value)}
      />
      <Choice label="Market" of={market} options={useMarkets("all markets")} />
    </div>
  );
}

/** Returns the rows found so far, searching for one time slice per frame; null without a filter. */
function useFound(filter: ReadonlySignal<RowFilter | null>): readonly number[] | null {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const frame = useRef(0);
  useSignalEffect(() => {
    model.revision.value;
    const { value: own } = filter;
    cancelAnimationFrame(frame.current);
    model.foundRows.value = own?.rows ?? null;
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

/** Renders the visible rows only. */
function Rows({
  count,
  rowAt,
  onChoose,
}: Readonly<{ count: number; rowAt: (index: number) => number; onChoose: (row: number) => void }>) {
  const shown = model.openHistory();
  const descriptions = useMemo(() => describeRows(shown), [shown]);
  const { rows } = model.openMoment();
  const place = countWhile(count, (index) => rowAt(index) < rows) - 1;
  const { scroller, handlers, spacer, height, shift, first, last, isTwoLined } = useVisibleRows(
    count,
    place,
    model.cursor.value === null,
  );
  descriptionsRevision.value;
  const visible = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  descriptions.request(visible.map(rowAt));
  if (count === 0) {
    return (
      <EmptyNote>
        {shown.count === 0 ? "No command since the exchange was opened." : "No row matches the filter."}
      </EmptyNote>
    );
  }
  const position = { blockSize: `${height}px`, insetBlockStart: 0, transform: `translateY(${shift}px)` };
  return (
    <section
      class={isTwoLined ? "rows two-lined" : "rows"}
      aria-label="Rows of the journal"
      ref={scroller}
      {...SCROLLS}
      {...handlers}
    >
      <div style={{ blockSize: `${spacer}px` }}>
        <ol style={position}>
          {visible.map((index) => {
            const row = rowAt(index);
            return (
              <li key={row} aria-setsize={count} aria-posinset={index + 1}>
                <Row
                  row={row}
                  description={descriptions.get(row)}
                  isHere={row === rows - 1}
                  onClick={() => onChoose(row)}
                />
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

function Row({
  row,
  description,
  isHere,
  onClick,
}: {
  readonly row: number;
  /** null until computed */
  readonly description: LineDescription | null;
  readonly isHere: boolean;
  readonly onClick: () => void;
}) {
  const { lineAt, actors, markets, times, marks, exchange } = model.openHistory();
  const line = lineAt(row);
  const request = isRequest(line) ? (line.d as StreamRequest) : requests.get(row);
  const actor = actors[row] ?? 0;
  const { text = "…", result = "", isProblem = false } = description ?? {};
  const isWrong = isProblem || ((marks[row] ?? 0) & MARK.failure) !== 0;
  // The result comes before the market, because a long name of a market would hide it.
  const [what = "", place] = text.split(/ in (?=[a-z0-9-]+$)/);
  const slug = place ?? exchange.state.markets.find(markets[row] ?? 0)?.slug ?? "";
  return (
    <button
      type="button"
      class={isProblem ? "row-of wrong-row" : "row-of"}
      aria-current={isHere ? "true" : undefined}
      title={result === "" ? text : `${text} → ${result}`}
      onClick={onClick}
    >
      <span class="place number dim">{model.positionAfter(row + 1).number}</span>
      <Time at={times[row] ?? 0} />
      <span class="who">{actor > 0 ? nameOf(actor) : (description?.actor?.slice(0, 8) ?? "")}</span>
      <span class="what">
        <bdi>{isRequest(line) ? replyText(line.d as StreamRequest) : what}</bdi>
        {result === "" ? null : <span class={isWrong ? "wrong" : "result"}>{` → ${result}`}</span>}
        <span class="dim">{slug === "" ? "" : ` ${slug}`}</span>
      </span>
      <span class="number dim">{request === undefined ? "" : requestText(request)}</span>
    </button>
  );
}

/** Returns the duration of a request, and the fault injected into it. */
const requestText = ({ ms, fault }: StreamRequest): string =>
  `${fault === undefined ? "" : `${fault}, `}${ms.toFixed(1)} ms`;

/** Copies a text; a page that is served over plain HTTP from elsewhere has no `navigator.clipboard`. */
async function writeToClipboard(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", put, { once: true });
  if (!document.execCommand("copy")) throw new Error("the browser does not let this page copy");
}

/** Maximum characters of a row's JSON: a browser needs seconds for more, and ends the page at 100 MB. */
const MAX_SHOWN = 200_000;

/** Details of one row: request, data and events, and buttons that copy it. */
function Detail({ row }: { readonly row: number }) {
  const action = useAction();
  const details = useRef<HTMLElement>(null);
  // From closed details the focus goes to the row.
  useLayoutEffect(
    () => () => {
      if (details.current?.matches(":focus-within"))
        document.querySelector<HTMLElement>(".row-of[aria-current]")?.focus();
    },
    [],
  );
  const shown = model.openHistory();
  const { replayed, orders, step } = shown.visit(row, (replayed, state) => ({
    replayed,
    orders: ordersIn(replayed, state),
    step: stepText(replayed, state, (address) => nameIn(state, address)),
  }));
  const request = requests.get(row);
  const base =
    model.server.value === null ? "http://127.0.0.1:7070" : location.origin + model.server.value.prefix;
  const curl = curlText(replayed, model.openMoment(), base);
  const copy = (what: string, text: string): void =>
    void action.run(async () => {
      await writeToClipboard(text);
      return `${what} copied`;
    });
  const actor = shown.actors[row] ?? 0;
  const market = shown.exchange.state.markets.find(shown.markets[row] ?? 0);
  const place = model.positionAfter(row + 1).text;
  const { line, command, result } = replayed;
  const content = {
    ...(request === undefined ? {} : { request }),
    ...(result.kind === "accepted" ? {} : { data: line.d }),
    ...(command === null ? {} : { command }),
    ...(result.kind === "differs" ? { recorded: { kind: "accepted", events: hex8(line.r) } } : {}),
    outcome: result.kind === "fails" ? { kind: "fails", message: result.error.message } : result,
  };
  return (
    <aside class="detail" aria-label={place} ref={details}>
      <header>
        <h3>{`${place}: ${line.k}`}</h3>
        {actor > 0 ? <AccountLink number={actor} /> : null}
        {market === undefined ? null : <MarketLink of={market} />}
        {orders.slice(0, 6).map((order) => (
          <OrderLink key={order} number={order} />
        ))}
        <button
          type="button"
          disabled={step.startsWith("#")}
          title={step.replace(/^# /, "")}
          onClick={() => copy("the step", step)}
        >
          Copy as step
        </button>
        <button
          type="button"
          disabled={curl === null}
          title={curl ?? "no request for this row"}
          onClick={() => copy("the command", curl ?? "")}
        >
          Copy as curl
        </button>
        <button type="button" aria-label="Close" title="Close (d)" onClick={setTo(model.openedRow, null)}>
          ×
        </button>
      </header>
      {action.message}
      <pre>{shortened(JSON.stringify(content, null, 2), MAX_SHOWN)}</pre>
    </aside>
  );
}

/** Returns the name of an account in a scenario. */
function nameIn(state: State, address: string): string {
  const number = state.accountByAddress.get(address) ?? 0;
  const name = model.accountName(state, number);
  return name.endsWith("…") ? `wallet-${number}` : name;
}

/** Returns the orders that a row refers to. */
function ordersIn({ command, result }: ReplayedLine, state: State): number[] {
  const orders = new Set<number>();
  if (command?.kind === "cancelOrder") orders.add(numberOf(state.idPrefixes.order, command.orderId));
  if (result.kind === "accepted") {
    for (const event of result.events) {
      if ("order" in event && typeof event.order === "number") orders.add(event.order);
      if (event.kind === "orderTraded") for (const each of [event.taker, event.maker]) orders.add(each);
    }
  }
  return [...orders].filter((number) => state.orders.find(number) !== undefined);
}
