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
import { History, type Lines } from "./history.ts";
import {
  aTurn,
  history,
  isConnected,
  notice,
  phase,
  revision,
  show,
  server as shownServer,
  toldUpTo,
} from "./model.ts";
import { AskError, lineTold, type Server } from "./server.ts";

/** Lines that have been told, by row. */
class ToldLines implements Lines {
  readonly #lines: Line[] = [];

  get count(): number {
    return this.#lines.length;
  }

  at(row: number): Line {
    return this.#lines[row] as Line;
  }

  add(k: string, t: number, d: unknown, r?: string): void {
    const number = this.#lines.length + 2;
    this.#lines.push(lineTold(number, k, t, d, r === undefined ? 0 : Number.parseInt(r, 16)));
  }
}

/** What the server tells of requests, by the row of the command or refusal that each has made. */
export const requests = new Map<number, StreamRequest>();

const RETRY_MS = 1_000;
/** A history is decided anew for so long at a time before the page has its turn. */
const TURN_MS = 40;

/** What the user is told of a history that does not go on from the one before. */
const WHY: Readonly<Record<string, string>> = {
  putBack: "the exchange was put back, by a snapshot or a reset: this is its history now",
  unknown: "the server has begun anew: this is its history now",
  slow: "the page could not keep up: what came before is left out, load it again to see all",
  tooLong: "the session is too long to be told whole: it begins here",
};

/** Follows the exchange of a server for as long as the page is open, from the start of its session. */
export async function follow(server: Server): Promise<void> {
  shownServer.value = server;
  const feed = new Feed(server);
  for (let last = ""; ; ) {
    try {
      last = await feed.read(last);
    } catch (error) {
      if (error instanceof AskError && error.code !== "UNREACHABLE") {
        // A server that stops, or has too many readers, may be there again soon: what is open stays.
        const isForNow = error.code === "UNAVAILABLE";
        if (!isForNow || history.value === null) {
          phase.value = { kind: "failed", message: error.message, hint: error.hint };
        }
        if (!isForNow) return;
      }
    }
    last = feed.last;
    if (feed.begunAnew) continue;
    isConnected.value = false;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** What a server tells, as it comes. */
class Feed {
  readonly #server: Server;
  /** The id of the latest entry. */
  last = "";
  /** Whether the exchange now has another history than the one that was told, which is to be told from its start. */
  begunAnew = false;
  #why: string | null = null;
  #lines = new ToldLines();
  #told: History | null = null;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Reads until the connection ends; answers the id behind which to go on. @throws AskError */
  async read(last: string): Promise<string> {
    const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
    const ending = new AbortController();
    const { signal } = ending;
    const response = await this.#server.send("GET", "/sim/stream?from=start", undefined, { headers, signal });
    isConnected.value = true;
    toldUpTo.value = Number(response.headers.get("x-sim-sequence"));
    this.begunAnew = false;
    const reader = response.body?.getReader();
    const eventsIn = eventStreamReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) return this.last;
      await this.#take(eventsIn(value).map(streamEntry));
      if (!this.begunAnew) continue;
      ending.abort();
      return "";
    }
  }

  async #take(entries: readonly StreamEntry[]): Promise<void> {
    let began = performance.now();
    for (const entry of entries) {
      this.last = entry.id;
      this.#add(entry);
      if (this.begunAnew) return;
      if (performance.now() - began < TURN_MS) continue;
      this.#tell();
      await aTurn();
      began = performance.now();
    }
    this.#tell();
  }

  #tell(): void {
    if (this.#told === null) return;
    if (history.value === this.#told) revision.value += 1;
    else show(this.#told);
  }

  #add(entry: StreamEntry): void {
    switch (entry.event) {
      case "opening":
        this.#begin(entry.data);
        return;
      case "command":
        this.#lines.add(entry.data.k, entry.data.t, entry.data.d, entry.data.r);
        break;
      case "refused":
        this.#lines.add("refused", entry.data.t, entry.data.d);
        break;
      case "clock":
        if (this.#runsSo(entry.data.d)) {
          this.#told?.passTo(entry.data.t as Millis);
          return;
        }
        this.#lines.add("clock", entry.data.t, { ...entry.data.d, wall: 0 });
        break;
      case "request":
        if (this.#isNoted(entry.data.d)) return;
        this.#lines.add("request", entry.data.t, entry.data.d);
        break;
    }
    this.#told?.take();
  }

  /** Whether the clock runs like this already: then the entry tells the time alone. */
  #runsSo({ mode, rate }: StreamClock): boolean {
    const clock = this.#told?.clock;
    return clock?.mode === mode && (mode !== "scaled" || clock.rate === rate);
  }

  #begin(opening: StreamOpening): void {
    const { reason, t, config, start, base } = opening;
    if (reason === "putBack" || reason === "unknown") {
      this.last = "";
      this.begunAnew = true;
      this.#why = WHY[reason] ?? null;
      return;
    }
    if (config === undefined || base === undefined) return;
    this.#lines = new ToldLines();
    requests.clear();
    const data = { ...opening, format: FORMAT, config, start: start ?? t, base } as unknown as OpeningData;
    this.#told = new History(data, "the exchange", this.#lines);
    notice.value = WHY[reason] ?? this.#why;
    this.#why = null;
  }

  /** Whether a request belongs to a row: to the latest command that it made, or to its refusal. */
  #isNoted(request: StreamRequest): boolean {
    const { count } = this.#lines;
    const told = this.#told;
    for (let row = count - 1; told !== null && row >= Math.max(0, count - NEAR); row -= 1) {
      if (requests.has(row)) continue;
      const { k, d } = this.#lines.at(row);
      const sequence = told.sequences.at(row);
      const refused = d as { path: string; code: string };
      const isRefusal = k === "refused" && refused.path === request.path && refused.code === request.code;
      const isCommand = k !== "refused" && k !== "clock" && k !== "request" && sequence === request.last;
      if (request.last < request.first ? isRefusal : isCommand) {
        requests.set(row, request);
        return true;
      }
    }
    return false;
  }
}

/** A request is answered soon after what it did. */
const NEAR = 256;
