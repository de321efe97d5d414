import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { toIso } from "../core/time.ts";
import * as model from "./model.ts";
import { AccountsPane } from "./panes/accounts.tsx";
import { AuthPane } from "./panes/auth.tsx";
import { ChainPane } from "./panes/chain.tsx";
import { ChartPane } from "./panes/chart.tsx";
import { ClockPane } from "./panes/clock.tsx";
import { JournalPane } from "./panes/journal.tsx";
import { OrderPane } from "./panes/order.tsx";
import { BookPane } from "./panes/order-book.tsx";
import { SessionPane } from "./panes/session.tsx";
import { LANES, Timeline } from "./panes/timeline.tsx";
import { setTo } from "./parts.tsx";
import { storeToken } from "./server.ts";
import { begin, openFile } from "./sources.ts";

/** Whether a file is dragged over the page. */
const isOver = signal(false);

/** The page: a timeline, and the panes at its cursor. */
const App = () => (
  <div class={isOver.value ? "page drop" : "page"}>
    <Top />
    {model.phase.value.kind === "open" ? <Panes /> : <Waiting />}
  </div>
);

function Top() {
  const { value: at } = model.moment;
  const source = sourceText();
  useEffect(() => {
    document.title = `${source} - clobsim`;
  }, [source]);
  return (
    <header class="top">
      <h1>
        clobsim <span class="dim">{source}</span>
      </h1>
      <strong class="wrong" role="status">
        {model.server.value === null || model.isConnected.value ? "" : "not connected"}
      </strong>
      {at === null ? null : (
        <p class="where number">
          <span class={at.isHead ? "" : "past"}>{whereText(at)}</span>
          <span>{`sequence ${at.sequence}`}</span>
          <time dateTime={toIso(at.now)}>{toIso(at.now)}</time>
        </p>
      )}
      {model.phase.value.kind === "failed" ? null : <ChooseFile />}
      <details
        class="keys"
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") currentTarget.open = false;
        }}
      >
        <summary>Keys</summary>
        <dl>
          {KEYS.map(([key, text]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </details>
    </header>
  );
}

function whereText({ isHead, rows }: model.Moment): string {
  if (!isHead || model.server.value === null)
    return `${model.positionAfter(rows).text} of ${model.positionAfter(model.openHistory().count).number}`;
  if (!model.isConnected.value) return "last known state";
  return model.loadedPart.value === 1 ? "live" : `catching up, ${Math.floor(100 * model.loadedPart.value)} %`;
}

function sourceText(): string {
  if (model.file.value !== null && model.server.value === null) return model.file.value.name;
  if (model.server.value === null) return "inspector";
  return location.host + model.server.value.prefix;
}

/** Shown while a history is being opened, and if that fails. */
function Waiting() {
  const { value: now } = model.phase;
  if (now.kind === "open") return null;
  if (now.kind === "opening") {
    return (
      <main class="waiting">
        <p role="status">{`Opening ${now.what}`}</p>
        <progress max={1} value={now.done} aria-label="Progress of reading" />
        <p class="number dim">{`${now.commands.toLocaleString("en")} commands`}</p>
      </main>
    );
  }
  return (
    <main class="waiting">
      <p class="wrong" role="alert">
        {now.message}
      </p>
      <p class="dim">{now.hint}</p>
      {now.hint.includes("--sim-token") ? <Token /> : null}
      <ChooseFile />
    </main>
  );
}

/** Button that opens a chosen report. */
function ChooseFile() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Choose a report
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".ndjson,application/x-ndjson"
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          if (chosen !== undefined) void openFile(chosen);
          // The same file may be chosen again after it has been written anew.
          currentTarget.value = "";
        }}
      />
    </>
  );
}

function Token() {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem("token");
        if (!(field instanceof HTMLInputElement)) return;
        storeToken(field.value);
        location.reload();
      }}
    >
      <label>
        Token of the control plane <input name="token" type="password" autocomplete="off" />
      </label>{" "}
      <button type="submit">Open</button>
    </form>
  );
}

/** Notice that the user can close. */
function Notice() {
  if (model.notice.value === null) return null;
  return (
    <div class="notice" role="alert">
      <p>{model.notice.value}</p>
      <button type="button" aria-label="Close" onClick={setTo(model.notice, null)}>
        ×
      </button>
    </div>
  );
}

/** Whether the tab of a pane is selected. */
const isOnTop = (name: model.PaneName): boolean =>
  model.pane.value === name || (name === "order" && model.isShown("order"));

function Tabs() {
  return (
    <nav class="tabs" aria-label="Panes">
      {(Object.keys(model.PANES) as model.PaneName[]).map((name) => (
        <button
          key={name}
          type="button"
          data-tab={name}
          aria-pressed={isOnTop(name)}
          onClick={setTo(model.pane, name)}
        >
          {model.PANES[name]}
        </button>
      ))}
    </nav>
  );
}

function Panes() {
  return (
    <>
      <Notice />
      <Timeline>
        <Tabs />
      </Timeline>
      <main class="panes">
        <JournalPane />
        <div class="middle">
          <BookPane />
          <ChartPane />
        </div>
        <div class="side">
          <OrderPane />
          <AccountsPane />
          <ChainPane />
          <ClockPane />
          <AuthPane />
          <SessionPane />
        </div>
      </main>
    </>
  );
}

/** Keys and their effect, as shown on the page. */
const KEYS = [
  ["← →", "previous or next command"],
  ["Shift ← →", "previous or next trade, or row found"],
  ["Home", "go to the opening"],
  ["End l", "go to the end and follow it"],
  ["g", "go to a sequence"],
  ["/", "filter the journal"],
  ["d", "show the details of the row"],
  ["Esc", "close the details"],
] as const;

const BY_KEY: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  ArrowLeft: ({ shiftKey }) => (shiftKey ? model.stepToMatch(-1) : model.step(-1)),
  ArrowRight: ({ shiftKey }) => (shiftKey ? model.stepToMatch(1) : model.step(1)),
  Home: () => model.moveTo(0),
  End: model.followEnd,
  l: model.followEnd,
  g: () => focusOn("go-to"),
  "/": () => focusOn("filter"),
  d: model.toggleDetails,
  Escape: setTo(model.openedRow, null),
};

/** Focuses a field and selects its text, so that typing replaces it. */
function focusOn(id: string): void {
  const field = document.getElementById(id);
  if (field instanceof HTMLInputElement) field.select();
}

/** Colours of `style.css` that canvases read: as registered properties they have their resolved values. */
const CANVAS_COLOURS = ["line", "dim", "accent", "bar", "cursor", ...LANES.map(([name]) => `lane-${name}`)];
for (const name of CANVAS_COLOURS)
  CSS.registerProperty({ name: `--${name}`, syntax: "<color>", inherits: true, initialValue: "gray" });

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
// A report dropped anywhere on the page is opened.
for (const kind of ["dragover", "dragleave", "drop"] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    isOver.value = kind === "dragover";
    const [dropped] = (kind === "drop" && event.dataTransfer?.files) || [];
    if (dropped !== undefined) void openFile(dropped);
  });
}
// Keys work on the whole page, except while the user types or chooses in a field.
document.addEventListener("keydown", (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey) return;
  if (target instanceof HTMLElement && ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) {
    if (key !== "Escape") return;
    // Some browsers would empty a search field, and tell the page only while the field has the focus.
    event.preventDefault();
    target.blur();
    return;
  }
  const act = BY_KEY[key];
  if (act === undefined || model.phase.value.kind !== "open") return;
  event.preventDefault();
  act(event);
});
void begin();
