import {
  eventStreamReader,
  type StreamClock,
  type StreamEntry,
  type StreamOpening,
  type StreamRequest,
  streamEntry,
} from "../api/event-stream.ts";
import type { Millis } from "../core/units.ts";
import { FORMAT, type Line, type OpeningData } from "../engine/journal-line.ts";
import { History, MARK, setsClock } from "./history.ts";
import * as model from "./model.ts";
import { openReport } from "./report-file.ts";
import { RequestError, type Server, serverAt } from "./server.ts";

/** Aborted when a report takes the place of the running exchange. */
const following = new AbortController();

/**
 * Opens the history of the page: the embedded report, the report named by the page's address, or the exchange of its
 * server.
 */
export async function begin(): Promise<void> {
  const embedded = document.getElementById("report");
  const text = embedded?.textContent?.trim() ?? "";
  const named = new URLSearchParams(location.search).get("report");
  if (text !== "") await open(embedded?.dataset.name ?? "report", () => inflated(text));
  else if (named !== null) await open(named, () => fetched(named));
  else if (location.protocol === "file:") {
    const hint = "drop a report on this page, or choose one";
    model.phase.value = { kind: "failed", message: "no report is open", hint };
  } else await follow(serverAt(location.pathname.replace(/\/$/, "")), following.signal);
}

/** Opens a dropped or chosen file. */
export const openFile = (chosen: File): Promise<void> =>
  open(chosen.name, async () => new Uint8Array(await chosen.arrayBuffer()));

async function open(name: string, read: () => Promise<Uint8Array>): Promise<void> {
  model.phase.value = { kind: "opening", what: name, done: 0, commands: 0 };
  try {
    const bytes = await read();
    const report = await openReport(name, bytes, async ({ done, commands }) => {
      model.phase.value = { kind: "opening", what: name, done, commands };
      await model.yieldToPage();
    });
    following.abort();
    requests.clear();
    model.server.value = null;
    model.file.value = { name, bytes };
    model.notice.value = report.notice;
    model.show(report.history);
    const { problem } = report.history;
    if (problem !== null) model.moveTo(problem.line.n - 1);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (model.history.value === null) {
      const hint = "choose another report, or drop one on this page";
      model.phase.value = { kind: "failed", message, hint };
      return;
    }
    // The open history stays.
    model.notice.value = message;
    model.phase.value = { kind: "open" };
  }
}

/** Decodes the embedded report: gzip as base64. */
async function inflated(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** Fetches a report from the server of the page, the only one that the page's policy allows. */
async function fetched(address: string): Promise<Uint8Array> {
  const { href, origin, protocol } = location;
  const isHere = URL.canParse(address, href) && new URL(address, href).origin === origin;
  if (address.trim() === "" || !isHere || protocol === "file:") {
    const found = address.trim() || "nothing";
    throw new Error(
      `?report= expects a path on the server of this page, such as /sim/report, found ${found}`,
    );
  }
  const response = await fetch(address).catch(() => {
    throw new Error(`${address}: the server does not respond`);
  });
  if (!response.ok) throw new Error(`${address}: the server responded with ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Requests received from the stream, by the row of their command or refusal. */
export const requests = new Map<number, StreamRequest>();

/** Time for replaying lines before yielding to the page. */
const SLICE_MS = 40;

/** Notices for a history that does not continue the one before. */
const NOTICES: Readonly<Record<string, string>> = {
  putBack: "a snapshot was restored or the exchange was reset: this is its new history",
  unknown: "the server was restarted, or this page was hidden for long: its history was read again",
  slow: "the page could not keep up: earlier rows are missing, reload it to see all",
  tooLong: "the session is too long to load completely: the history begins here",
};

/**
 * Follows the exchange of a server from the start of its session until `signal` is aborted. While nobody sees this page, it
 * disconnects for another page that connects, because browsers open only six connections to a server.
 */
async function follow(server: Server, signal: AbortSignal): Promise<void> {
  model.server.value = server;
  const feed = new Feed();
  const pages = new BroadcastChannel("clobsim inspector");
  while (!signal.aborted) {
    const hidden = new AbortController();
    pages.onmessage = () => {
      if (document.hidden) hidden.abort();
    };
    pages.postMessage("connects");
    try {
      await feed.read(server, AbortSignal.any([signal, hidden.signal]));
    } catch (error) {
      if (signal.aborted) return;
      if (hidden.signal.aborted) {
        await shown();
        continue;
      }
      if (error instanceof RequestError && error.code !== "UNREACHABLE") {
        // A server that stops or has too many readers may be available again soon, so that the history stays open.
        const isTemporary = error.code === "UNAVAILABLE";
        if (!isTemporary || model.history.value === null) {
          model.phase.value = { kind: "failed", message: error.message, hint: error.hint };
        }
        if (!isTemporary) return;
      }
    }
    if (feed.mustRestart) continue;
    model.isConnected.value = false;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Waits until the page is visible. */
const shown = (): Promise<void> =>
  new Promise((resolve) => {
    if (!document.hidden) resolve();
    else document.addEventListener("visibilitychange", () => resolve(shown()), { once: true });
  });

const NEW_LINE = 10;

/** Reads the event stream of a server. */
class Feed {
  /** Id of the latest entry, after which to continue; empty for the start. */
  #last = "";
  /** Whether the history has been replaced and must be read from its start. */
  mustRestart = false;
  #notice: string | null = null;
  #initialSequence = 0;
  /** Lines received, by row. */
  #lines: Line[] = [];
  #history: History | null = null;

  /**
   * Reads until the connection ends.
   * @throws RequestError; an error if the signal is aborted
   */
  async read(server: Server, signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = this.#last === "" ? {} : { "last-event-id": this.#last };
    const response = await server.send("GET", "/sim/stream?from=start", null, { headers, signal });
    this.#initialSequence = Number(response.headers.get("x-sim-sequence"));
    this.mustRestart = false;
    const reader = response.body?.getReader();
    const eventsIn = eventStreamReader();
    while (!this.mustRestart) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      signal.throwIfAborted();
      if (done || value === undefined) return;
      const entries = eventsIn(value).map(streamEntry);
      // Not so within an opening, which may say that the history is another one.
      const isBetweenEntries = value.at(-1) === NEW_LINE && value.at(-2) === NEW_LINE;
      if (entries.length > 0 || isBetweenEntries) await this.#take(entries, signal);
    }
    await reader?.cancel();
  }

  async #take(entries: readonly StreamEntry[], signal: AbortSignal): Promise<void> {
    let began = performance.now();
    for (const entry of entries) {
      this.#last = entry.id;
      this.#add(entry);
      if (this.mustRestart) return;
      if (performance.now() - began < SLICE_MS) continue;
      this.#publish();
      await model.yieldToPage();
      signal.throwIfAborted();
      began = performance.now();
    }
    this.#publish();
  }

  #publish(): void {
    if (this.#history === null) return;
    model.initialSequence.value = this.#initialSequence;
    if (model.history.value === this.#history) model.revision.value += 1;
    else model.show(this.#history);
    model.isConnected.value = true;
  }

  #add(entry: StreamEntry): void {
    switch (entry.event) {
      case "opening":
        this.#begin(entry.data);
        return;
      case "command":
        this.#addLine(entry.data.k, entry.data.t, entry.data.d, entry.data.r);
        break;
      case "refused":
        this.#addLine("refused", entry.data.t, entry.data.d);
        break;
      case "clock":
        if (this.#isUnchanged(entry.data.d)) {
          this.#history?.advanceTime(entry.data.t as Millis);
          return;
        }
        this.#addLine("clock", entry.data.t, { ...entry.data.d, wall: 0 });
        break;
      case "request":
        if (!this.#attach(entry.data.d)) {
          this.#addLine("request", entry.data.t, entry.data.d);
          this.#history?.take();
        }
        if (changesSettings(entry.data.d)) model.settingsRevision.value += 1;
        return;
    }
    this.#history?.take();
  }

  #addLine(k: string, t: number, d: unknown, r?: string): void {
    const result = r === undefined ? 0 : Number.parseInt(r, 16);
    this.#lines.push({ n: this.#lines.length + 2, p: 0, s: 0, t, k, d, r: result, c: 0 } as Line);
  }

  /** Whether the clock setting is unchanged, so that the entry only reports the time. */
  #isUnchanged({ mode, rate }: StreamClock): boolean {
    const clock = this.#history?.clock;
    return clock?.mode === mode && (mode !== "scaled" || clock.rate === rate);
  }

  #begin(opening: StreamOpening): void {
    const { reason, t, config, start, base } = opening;
    if (reason === "putBack" || reason === "unknown") {
      this.#last = "";
      this.mustRestart = true;
      // The history that is shown is not that of the exchange any more.
      this.#history = null;
      model.initialSequence.value = Number.POSITIVE_INFINITY;
      this.#notice = NOTICES[reason] ?? null;
      return;
    }
    if (config === undefined || base === undefined) return;
    const lines: Line[] = [];
    this.#lines = lines;
    requests.clear();
    const data = { ...opening, format: FORMAT, config, start: start ?? t, base } as unknown as OpeningData;
    this.#history = new History(data, "the exchange", (row) => lines[row] as Line);
    model.notice.value = NOTICES[reason] ?? this.#notice;
    this.#notice = null;
  }

  /** Assigns a request to its row; returns whether there is one. */
  #attach(request: StreamRequest): boolean {
    const row = this.#rowOf(request);
    if (row === null) return false;
    requests.set(row, request);
    if (request.fault !== undefined) this.#history?.mark(row, MARK.fault);
    return true;
  }

  /**
   * Returns the row of the clock's new mode, of the latest command of a request or of its refusal; null if there is none.
   * A jump of the clock gets a row of its own, after those of the commands that it ran.
   */
  #rowOf(request: StreamRequest): number | null {
    const latest = this.#lines.length - 1;
    if (setsClock(request)) {
      return this.#lines[latest]?.k === "clock" && !requests.has(latest) ? latest : null;
    }
    for (let row = latest; row > Math.max(-1, latest - MAX_ROWS_BACK); row -= 1) {
      if (requests.has(row)) continue;
      const { k, d } = this.#lines[row] as Line;
      const sequence = this.#history?.sequences[row];
      const refused = d as { path: string; code: string };
      const isRefusal = k === "refused" && refused.path === request.path && refused.code === request.code;
      const isCommand = k !== "refused" && k !== "clock" && k !== "request" && sequence === request.last;
      if (request.last < request.first ? isRefusal : isCommand) return row;
    }
    return null;
  }
}

/** Whether a request may have changed snapshots, injected faults (also by being hit by one) or bots. */
const changesSettings = ({ method, path, fault }: StreamRequest): boolean =>
  fault !== undefined || (method !== "GET" && /^\/sim\/(snapshots|faults|bots)\b/.test(path));

/** A request follows its rows closely, so that only the latest rows are searched. */
const MAX_ROWS_BACK = 256;
