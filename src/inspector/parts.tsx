import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { priceText } from "../core/format.ts";
import type { Market } from "../core/market.ts";
import { toIso } from "../core/time.ts";
import { FULL_PRICE } from "../core/units.ts";
import * as model from "./model.ts";
import { RequestError } from "./server.ts";

/** Pane with a heading and `tools` beside it. */
export function Pane({
  name,
  tools,
  children,
}: Readonly<{ name: model.PaneName; tools?: ComponentChildren; children: ComponentChildren }>) {
  return (
    <section class="pane" data-pane={name} hidden={!model.isShown(name)} aria-labelledby={`${name}-title`}>
      <header>
        <h2 id={`${name}-title`}>{model.PANES[name]}</h2>
        <div class="tools">{tools}</div>
      </header>
      <div class="body">{children}</div>
    </section>
  );
}

/** Makes a scrolling element focusable, so that keys can scroll it whatever is in it. */
export const SCROLLS = { tabIndex: 0 };

/** Text of an empty pane. */
export const EmptyNote = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="nothing">{children}</p>
);

/** Says how many items a list leaves out. */
export const Unlisted = ({ count }: { readonly count: number }) =>
  count > 0 ? <p class="dim">{`and ${count} more`}</p> : null;

/** Names of the columns of a table; `numbers` are the indices of those with numbers. */
export const TableHead = ({
  columns,
  numbers = [],
}: Readonly<{ columns: readonly string[]; numbers?: readonly number[] }>) => (
  <thead>
    <tr>
      {columns.map((name, index) => (
        <th key={name} scope="col" class={numbers.includes(index) ? "number" : ""}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
);

/** List of names and values. */
export const Facts = ({ of }: { readonly of: Readonly<Record<string, string | number>> }) => (
  <dl class="facts number">
    {Object.entries(of).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** Link that opens an order; `isBrief` shows only its number. */
export const OrderLink = ({ number, isBrief = false }: Readonly<{ number: number; isBrief?: boolean }>) => (
  <button type="button" class="link" aria-label={`order ${number}`} onClick={() => model.openOrder(number)}>
    {isBrief ? `#${number}` : `order ${number}`}
  </button>
);

export const AccountLink = ({ number }: { readonly number: number }) => (
  <button
    type="button"
    class="link"
    title={model.openMoment().state.accounts.find(number)?.address ?? ""}
    onClick={() => model.openAccount(number)}
  >
    {nameOf(number)}
  </button>
);

/** Link that shows the book of a market. */
export const MarketLink = ({ of: { number, slug, question } }: { readonly of: Market }) => (
  <button type="button" class="link" title={question} onClick={() => model.openMarket(number)}>
    {slug}
  </button>
);

/** Returns the name of an account. The state at the end is used because it has all accounts, also those after the cursor. */
export const nameOf = (number: number): string =>
  model.accountName(model.openHistory().exchange.state, number);

/** Formats a price with the decimals of its market's tick size, so that prices line up. */
export const fixedPrice = ({ tickSize }: Market, price: number): string =>
  (price / FULL_PRICE).toFixed(priceText(tickSize).length - 2);

/** A time of day with milliseconds, or date and time if that is not the day of the cursor. */
export function Time({ at }: { readonly at: number }) {
  const [text, now] = [at, model.openMoment().now].map((each) => toIso(each as never)) as [string, string];
  const isToday = text.slice(0, 10) === now.slice(0, 10);
  return (
    <time class="number dim" dateTime={text} title={text}>
      {isToday ? text.slice(11, 23) : text.slice(5, 19).replace("T", " ")}
    </time>
  );
}

/** Runs actions one after the other; `message` shows what came of the latest, also to screen readers. */
export function useAction() {
  const result = useSignal({ text: "", isWrong: false });
  const latest = useRef(Promise.resolve());
  const run = (act: () => Promise<string | undefined>): Promise<void> => {
    latest.current = latest.current.then(async () => {
      try {
        result.value = { text: (await act()) ?? "", isWrong: false };
      } catch (error) {
        const hint = error instanceof RequestError && error.hint !== "" ? `: ${error.hint}` : "";
        const text = `${error instanceof Error ? error.message : String(error)}${hint}`;
        result.value = { text, isWrong: true };
      }
    });
    return latest.current;
  };
  /** Sends a request to the server. */
  const ask = (method: "GET" | "POST" | "DELETE", path: string, body?: object): void =>
    void run(async () => {
      await model.server.value?.ask(method, path, body);
    });
  return { run, ask, message: <Message of={result} /> };
}

const Message = ({ of }: { readonly of: Signal<{ readonly text: string; readonly isWrong: boolean }> }) => (
  <p class={of.value.isWrong ? "message wrong" : "message"} role="status">
    {of.value.text}
  </p>
);

/** Button that sends a command to the exchange; disabled if that is not possible. */
export function ActionButton({
  label,
  onClick,
  title,
}: Readonly<{ label: string; onClick: () => void; title?: string }>) {
  return (
    <button
      type="button"
      disabled={!model.canAct.value}
      title={model.canAct.value ? (title ?? "") : disabledReason()}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

/** Returns why commands are disabled. */
export function disabledReason(): string {
  if (model.server.value === null)
    return "a report is read-only: clobsim serve --from REPORT continues from it";
  if (!model.isConnected.value) return "the server is not connected";
  return "an earlier row is shown: go to the end first (l)";
}

/** Returns a handler that sets a signal. */
export const setTo =
  <T,>(to: Signal<T>, value: NoInfer<T>) =>
  (): void => {
    to.value = value;
  };

/** Binds a field to the signal that holds its text. */
export const bindTo = (to: Signal<string>) => ({
  value: to.value,
  onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void => {
    to.value = currentTarget.value;
  },
});

/** Returns the number in a field; undefined for an empty one, so that the server takes its default or asks for it. */
export const numberIn = (text: string): number | undefined => (text === "" ? undefined : Number(text));

/** Field that navigates to the entered text; `go` returns an error message, or an empty text. */
export function GoTo({
  label,
  go,
  ...more
}: Readonly<{ label: string; go: (text: string) => string; placeholder: string; id?: string }>) {
  const text = useSignal("");
  const wrong = useSignal("");
  // An error is about the cursor and the history at that time.
  useEffect(() => {
    wrong.value = "";
  }, [model.cursor.value, model.followed.value, model.history.value]);
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault();
        wrong.value = go(text.value.trim());
        if (wrong.value === "") event.currentTarget.querySelector("input")?.blur();
      }}
    >
      <input aria-label={label} aria-invalid={wrong.value !== ""} {...more} {...bindTo(text)} />
      <span class="wrong" role="status">
        {wrong.value}
      </span>
    </form>
  );
}

/** Selection of the value of a signal; `shown` is the displayed value if it differs. */
export function Choice<Value extends string | number>({
  label,
  of,
  options,
  shown = of.value,
}: Readonly<{
  label: string;
  of: Signal<Value>;
  options: readonly (readonly [NoInfer<Value>, string])[];
  shown?: NoInfer<Value>;
}>) {
  // Thousands of options are compared only if they are others.
  const listed = useMemo(
    () => (
      <>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </>
    ),
    [options],
  );
  return (
    <select
      aria-label={label}
      value={shown}
      onChange={({ currentTarget: { selectedIndex } }) => {
        of.value = options[selectedIndex]?.[0] ?? of.value;
      }}
    >
      {listed}
    </select>
  );
}

/** Returns all markets as options, by number, after those for `others`. */
export function useMarkets(...others: readonly string[]): readonly (readonly [number, string])[] {
  const markets = model.allMarkets();
  return useMemo(
    () => [
      ...others.map((text) => [0, text] as const),
      ...[...markets].map(({ number, slug }) => [number, slug] as const),
    ],
    [model.history.value, markets.size],
  );
}

const MAX_ACCOUNTS = 500;

/** Returns accounts as options after one for none: the newest first, because those of the world are the oldest, and the chosen one. */
export function useAccounts(numbers: readonly number[], none: string, chosen: number) {
  return useMemo(() => {
    const newest = numbers.toSorted((a, b) => b - a);
    const listed = newest.filter((number, index) => index < MAX_ACCOUNTS || number === chosen);
    return [[0, none] as const, ...listed.map((number) => [number, nameOf(number)] as const)];
  }, [model.history.value, numbers.length, chosen]);
}

/** Downloads content as a file. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
