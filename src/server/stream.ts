import { randomBytes } from "node:crypto";
import { ApiError } from "../api/errors.ts";
import type { EntryKind, OpeningReason } from "../api/event-stream.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { documentLines } from "../core/state-document.ts";
import { eventHash } from "../engine/checksum.ts";
import type { Exchange } from "../engine/exchange.ts";
import { FORMAT } from "../engine/journal-line.ts";
import { LineBuffer } from "../engine/line-buffer.ts";
import type { OpenedExchange } from "../engine/open-exchange.ts";
import { STATE_FORMAT } from "../engine/state-file.ts";
import { LatestEntries } from "./latest-entries.ts";
import { inPieces, slicesOf } from "./send.ts";
import { type Asked, type LiveFeed, Pieces, pathOf, type StreamBeginning } from "./service.ts";
import { idLineOf, putCommand, putHistory, putNote, requestText } from "./stream-entries.ts";

const MAX_READERS = 64;
const PUSH_MS = 34;
/** So many requests of each push are told that went well and made commands. */
const MAX_PLAIN = 20;
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": \n\n";
/** How long entries are kept for readers that come back after the last has gone. */
const LINGER_MS = 60_000;
/** Entries of a history that are told before others have their turn. */
const TOLD_AT_ONCE = 200;

type Piece = string | Uint8Array;

/** Whoever is told; it holds nothing but a place. */
interface Reader {
  /** That of the entry that comes next. */
  place: number;
  /** Called when there may be something to send. */
  wake: () => void;
  isOver: boolean;
}

/**
 * The live feed of one exchange, `GET /sim/stream`. Nothing is watched while nobody reads. All readers share the latest
 * entries, and are told of them when they are kept, as replies are; one that falls behind is told the state instead.
 */
export class Stream implements LiveFeed {
  readonly #opened: OpenedExchange;
  readonly #engine: string;
  readonly #readers = new Set<Reader>();
  /** What is watched and kept while somebody reads. */
  #feed: Feed | null = null;
  #forgetting: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(opened: OpenedExchange, engine: string) {
    this.#opened = opened;
    this.#engine = engine;
  }

  open(beginning: StreamBeginning): Pieces {
    if (this.#isClosed || this.#readers.size >= MAX_READERS) {
      const message = this.#isClosed ? "the server stops" : `${MAX_READERS} readers follow this exchange`;
      throw new ApiError("UNAVAILABLE", message, { status: 503, hint: "end one of them, or try later" });
    }
    this.#feed ??= new Feed(this.#opened, this.#engine, this.#readers);
    const reader: Reader = { place: 0, wake: () => {}, isOver: false };
    this.#readers.add(reader);
    return new Pieces(this.#feed.told(reader, beginning), "text/event-stream", () => {
      reader.isOver = true;
      reader.wake();
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#forgetLater();
    });
  }

  refused(request: RefusedRequest): void {
    this.#feed?.note("refused", JSON.stringify(request));
  }

  answered(request: Asked, status: number, code: string | undefined): void {
    if (this.#feed === null) return;
    const { method, firstCommand, lastCommand, fault } = request;
    const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS";
    const isGood = status >= 200 && status < 400;
    if (isRead && isGood) return;
    const isPlain = isGood && fault === null && lastCommand >= firstCommand;
    if (isPlain && !this.#feed.hasRoomForPlain()) return;
    const path = pathOf(request.url);
    if (path === "/sim/stream") return;
    this.#feed.note("request", requestText(request, path, status, code));
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) {
      reader.isOver = true;
      reader.wake();
    }
    this.#forget();
  }

  #forgetLater(): void {
    if (this.#forgetting !== null) clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => {
      if (this.#readers.size === 0) this.#forget();
    }, LINGER_MS).unref();
  }

  #forget(): void {
    this.#feed?.end();
    this.#feed = null;
  }
}

/** What an exchange does from a moment on. */
class Feed {
  readonly #opened: OpenedExchange;
  readonly #engine: string;
  readonly #readers: ReadonlySet<Reader>;
  readonly #latest: LatestEntries;
  readonly #stops: readonly (() => void)[];
  /** Is in the ids of entries that are no commands, so that nobody goes on in another feed, or with what a restored snapshot has undone. */
  #name = "";
  /** How many entries came since the latest command. */
  #count = 0;
  /** How many plain requests came since the latest push. */
  #plain = 0;
  /** The place up to which all entries are kept, and the first one since the exchange was put back. */
  #kept = 0;
  #putBackAt = 0;
  #push: NodeJS.Timeout | null = null;
  #pushedAt = 0;

  constructor(opened: OpenedExchange, engine: string, readers: ReadonlySet<Reader>) {
    this.#opened = opened;
    this.#engine = engine;
    this.#readers = readers;
    this.#latest = new LatestEntries(this.#anew());
    const { exchange, clock } = opened;
    const heartbeats = setInterval(() => this.#wake(), HEARTBEAT_MS).unref();
    this.#stops = [
      exchange.watch((sequence, at, events, command) => {
        this.#count = 0;
        const entry = { sequence, at, command };
        putCommand(this.#latest.next, entry, exchange.shortHash, false, eventHash(events));
        this.#added();
      }),
      exchange.watchRewind(() => this.#goBack()),
      clock.watch(({ mode, rate }) => this.note("clock", JSON.stringify({ mode, rate }))),
      () => clearInterval(heartbeats),
    ];
  }

  end(): void {
    for (const stop of this.#stops) stop();
  }

  /**
   * Whether one more request is told that has done what its commands tell anyway: the first of each push are, for the sake
   * of how long they took, and no more, for they cost as much as their commands.
   */
  hasRoomForPlain(): boolean {
    this.#plain += 1;
    return this.#plain <= MAX_PLAIN;
  }

  /** Adds what is no command; `data` is JSON. */
  note(kind: EntryKind, data: string): void {
    const { sequence, now } = this.#opened.exchange;
    this.#count += 1;
    putNote(this.#latest.next, `${sequence}.${this.#count}-${this.#name}`, kind, now, data);
    this.#added();
  }

  /** All that a reader is sent, until it is over. */
  async *told(reader: Reader, { from, after }: StreamBeginning): AsyncGenerator<Piece> {
    const latest = this.#latest;
    const beginnings = beginningsOf(after);
    const place = latest.behind(beginnings);
    const isOfHistory = after === null ? from === "start" : /^\d+$|-start$/.test(after);
    if (place !== null) {
      reader.place = place;
      yield HEARTBEAT;
    } else if (isOfHistory) yield* this.#history(reader, beginnings);
    else yield* this.#opening(reader, after === null ? "now" : "unknown");
    this.#pushSoon();
    while (!reader.isOver) {
      if (reader.place < latest.first) {
        yield* this.#opening(reader, reader.place < this.#putBackAt ? "putBack" : "slow");
      } else if (reader.place < this.#kept) {
        const bytes = latest.read(reader.place, this.#kept);
        reader.place += bytes.length;
        yield bytes;
      } else {
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
        if (reader.place >= this.#kept && reader.place >= latest.first) yield HEARTBEAT;
      }
    }
  }

  /** Where a reader begins that is told nothing of what was before: the whole state as it stands, or facts alone. */
  async *#opening(reader: Reader, reason: OpeningReason): AsyncGenerator<Piece> {
    const { exchange } = this.#opened;
    for (;;) {
      reader.place = this.#latest.end;
      const pieces = this.#openingPieces(this.#latest.latest, reason, exchange);
      // What is told of the exchange is that of this moment.
      const first = pieces.next();
      if (!(await this.#isKept(reader))) continue;
      if (first.done !== true) yield first.value;
      yield* pieces;
      return;
    }
  }

  /**
   * The session from its start, or from behind the entry that begins so. The last that is told has the id of the place where
   * the reader goes on.
   */
  async *#history(reader: Reader, beginnings: readonly string[]): AsyncGenerator<Piece> {
    const { session, persistence } = this.#opened;
    reader.place = this.#latest.end;
    const seam = this.#latest.latest;
    // Time may have passed since the last entry, or been put back: where the history ends, the clock is told.
    const end = clockText(seam, this.#opened);
    const { entries, refused } = session;
    if (entries === null || persistence.broken !== null) {
      // After a failure of the disk a session has begun somewhere else than it says.
      yield* this.#opening(reader, "tooLong");
      return;
    }
    const exchange = this.#opened.atSessionStart();
    if (!(await this.#isKept(reader))) return;
    const start = idLineOf(exchange);
    let isFound = beginnings.length === 0 || beginnings.some((beginning) => start.startsWith(beginning));
    if (beginnings.length === 0) yield* this.#openingPieces(start, "start", exchange);
    const buffer = new LineBuffer();
    let count = 0;
    for (const id of putHistory(buffer, exchange, entries, refused)) {
      count += 1;
      if (!isFound) {
        isFound = beginnings.some((beginning) => id.startsWith(beginning));
        buffer.cut(0);
      }
      if (count % TOLD_AT_ONCE !== 0) continue;
      yield buffer.bytes.slice();
      buffer.cut(0);
      if (reader.isOver || reader.place < this.#latest.first) return;
    }
    yield buffer.bytes;
    if (isFound) yield end;
    if (!isFound) yield* this.#opening(reader, "unknown");
  }

  *#openingPieces(id: string, reason: OpeningReason, exchange: Exchange): Generator<Piece> {
    const { origin, clock, beganAtOrigin } = this.#opened;
    const { mode, rate } = clock.setting;
    const { now, sequence, hash } = exchange;
    const facts = {
      ...{ reason, t: now, format: FORMAT, engine: this.#engine, seed: origin.config.seed },
      ...{ sequence, hash, clock: { mode, rate, followsWall: false } },
    };
    const head = (more: object): string =>
      `${id}event: opening\ndata: ${JSON.stringify({ ...facts, ...more }).slice(0, -1)}`;
    if (reason === "now") {
      yield `${head({})}}\n\n`;
    } else if (reason === "start" && beganAtOrigin()) {
      const { config, start, base } = origin;
      yield `${head({ config, start })},"base":`;
      yield* slicesOf(JSON.stringify(base));
      yield "}\n\n";
    } else {
      const { state, digest } = exchange.snapshot();
      const { devAccounts } = origin;
      const header = JSON.stringify({ format: STATE_FORMAT, now, sequence, digest, devAccounts });
      const begun = head({ config: state.config, start: now });
      yield `${begun},"base":{"kind":"state","content":{"clobsim":${header},`;
      yield* inPieces(documentLines(state), "");
      yield "}}}\n\n";
    }
  }

  /**
   * Whether all that was done by now is kept, and the reader's place can still be read from.
   * @throws PersistenceError when nobody knows what is kept.
   */
  async #isKept({ place }: Reader): Promise<boolean> {
    const { persistence } = this.#opened;
    try {
      await persistence.flush(persistence.position);
    } catch (error) {
      if (place >= this.#latest.first) throw error;
    }
    return place >= this.#latest.first;
  }

  /** Begins with a new name; answers the line of an id behind which the next entry comes. */
  #anew(): string {
    this.#name = randomBytes(4).toString("hex");
    this.#count = 0;
    return `id: ${this.#opened.exchange.sequence}.0-${this.#name}\n`;
  }

  #goBack(): void {
    this.#latest.clear(this.#anew());
    this.#putBackAt = this.#latest.first;
    this.#pushSoon();
  }

  #added(): void {
    this.#latest.added();
    this.#pushSoon();
  }

  #pushSoon(): void {
    if (this.#push !== null || this.#readers.size === 0) return;
    const wait = Math.max(0, this.#pushedAt + PUSH_MS - performance.now());
    this.#push = setTimeout(() => void this.#pushNow(), wait).unref();
  }

  async #pushNow(): Promise<void> {
    this.#push = null;
    this.#plain = 0;
    this.#pushedAt = performance.now();
    const { persistence } = this.#opened;
    const { end } = this.#latest;
    try {
      await persistence.flush(persistence.position);
      this.#kept = Math.max(this.#kept, end);
    } catch {
      // What is undone is no entry any more: the exchange was put back.
    }
    this.#wake();
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

/** How the clock runs, and what it shows, as the entry with an id. */
function clockText(id: string, { clock, exchange }: OpenedExchange): string {
  const { mode, rate } = clock.setting;
  return `${id}event: clock\ndata: ${JSON.stringify({ t: exchange.now, d: { mode, rate } })}\n\n`;
}

/** How the text of the entry begins that an id names; of a number alone, the latest command or where a feed began. */
function beginningsOf(after: string | null): readonly string[] {
  if (after === null) return [];
  return /^\d+$/.test(after) ? [`id: ${after}-`, `id: ${after}.0-`] : [`id: ${after}\n`];
}
