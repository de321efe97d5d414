import { randomBytes } from "node:crypto";
import { ApiError } from "../api/errors.ts";
import type { EntryKind, OpeningReason } from "../api/event-stream.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { documentLines } from "../core/state-document.ts";
import type { Snapshot } from "../engine/exchange.ts";
import { eventHash, HistoryDigest } from "../engine/hashes.ts";
import { LineBuffer } from "../engine/journal-codec.ts";
import { FORMAT } from "../engine/journal-line.ts";
import type { OpenedExchange } from "../engine/open-exchange.ts";
import { STATE_FORMAT } from "../engine/state-file.ts";
import { VERSION } from "../version.ts";
import { inPieces, pathOf, type RequestInfo, StreamedAnswer, slicesOf } from "./messages.ts";
import { idLineOf, LatestEntries, putCommand, putEntry, putHistory, requestText } from "./stream-entries.ts";

const MAX_READERS = 64;
const PUSH_MS = 34;
/**
 * Maximum number of successful requests with commands, except control requests, in one push. The first ones show how long
 * requests took; the others are left out, because they cost as much as their commands.
 */
const MAX_SUCCESSFUL = 20;
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": \n\n";
/** How long entries stay in memory for reconnecting readers after the last reader has disconnected. */
const LINGER_MS = 60_000;
/** Entries of the history that are sent as one piece. */
const HISTORY_BATCH = 200;

type Piece = string | Uint8Array;

/** Where a reader begins: the exchange at a position, and the id line of the entry before it. */
interface Beginning {
  readonly position: number;
  readonly id: string;
  readonly snapshot: Snapshot;
}

/** A reader of the feed; its only data is a position. */
interface Reader {
  /** Position of the next entry to send. */
  position: number;
  /** Called when there may be something to send. */
  wake: () => void;
  isOver: boolean;
}

/**
 * The live feed of one exchange, `GET /sim/stream`. It collects entries only while there are readers, who share one
 * buffer of the latest entries. Entries are sent after they are durable, as replies are. A reader that falls behind the
 * buffer gets the current state instead of the entries it missed.
 */
export class Stream {
  readonly #opened: OpenedExchange;
  readonly #readers = new Set<Reader>();
  /** null without readers; released `LINGER_MS` after the last one has disconnected. */
  #feed: Feed | null = null;
  #releaseTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(opened: OpenedExchange) {
    this.#opened = opened;
  }

  /**
   * Opens an endless stream of entries for a new reader, who continues after the entry with the id `since`, or else starts
   * at `from`. @throws ApiError if there are too many readers.
   */
  open(from: "start" | "now", since: string | null): StreamedAnswer {
    if (this.#isClosed || this.#readers.size >= MAX_READERS) {
      const [message, hint] = this.#isClosed
        ? ["the server is stopping"]
        : [`${MAX_READERS} readers follow this exchange`, "close one of them, or retry later"];
      throw new ApiError("UNAVAILABLE", message, { hint });
    }
    this.#feed ??= new Feed(this.#opened, this.#readers);
    const reader: Reader = { position: 0, wake: () => {}, isOver: false };
    this.#readers.add(reader);
    return new StreamedAnswer(this.#feed.piecesFor(reader, from, since), "text/event-stream", () => {
      reader.isOver = true;
      reader.wake();
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#releaseLater();
    });
  }

  /** Called after each refused request. */
  refused(request: RefusedRequest): void {
    this.#feed?.addEntry("refused", JSON.stringify(request));
  }

  /** Called after each answered request; `status` is 0 if its connection was closed without an answer. */
  answered(request: RequestInfo, status: number, code: string | undefined): void {
    if (this.#feed === null) return;
    const { method, firstCommand, lastCommand, fault } = request;
    const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS";
    const isGood = status >= 200 && status < 400;
    if (isRead && isGood) return;
    const path = pathOf(request.url);
    if (path === "/sim/stream") return;
    // A control request may also have changed what is not in its commands, such as the running bots.
    const isInCommands = isGood && fault === null && lastCommand >= firstCommand && !path.startsWith("/sim/");
    if (isInCommands && !this.#feed.hasRoomForSuccessful()) return;
    this.#feed.addEntry("request", requestText(request, path, status, code));
  }

  /** Ends the streams of all readers and admits no new ones. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) {
      reader.isOver = true;
      reader.wake();
    }
    this.#release();
  }

  #releaseLater(): void {
    if (this.#releaseTimer !== null) clearTimeout(this.#releaseTimer);
    this.#releaseTimer = setTimeout(() => {
      if (this.#readers.size === 0) this.#release();
    }, LINGER_MS).unref();
  }

  #release(): void {
    this.#feed?.end();
    this.#feed = null;
  }
}

/** The entries of an exchange since the feed was created. */
class Feed {
  readonly #opened: OpenedExchange;
  readonly #readers: ReadonlySet<Reader>;
  readonly #latest: LatestEntries;
  readonly #stops: readonly (() => void)[];
  /** Random part of the ids of entries that are not commands, so that they are not found in another feed or after a rewind. */
  #name = "";
  /** Number of entries since the latest command. */
  #count = 0;
  /** Number of successful requests with commands since the latest push. */
  #successful = 0;
  /** Position up to which all entries are durable. */
  #durableEnd = 0;
  /**
   * The latest rewind of the exchange, at a position; null once all readers are after it. Readers begin where the request
   * that caused it is answered, because that may also replay commands and set the clock; `beginning` is null until then.
   */
  #rewind: { readonly position: number; beginning: Beginning | null } | null = null;
  #push: NodeJS.Timeout | null = null;
  #pushedAt = 0;

  constructor(opened: OpenedExchange, readers: ReadonlySet<Reader>) {
    this.#opened = opened;
    this.#readers = readers;
    this.#latest = new LatestEntries(this.#startIds());
    const { exchange, clock } = opened;
    const heartbeats = setInterval(() => this.#wake(), HEARTBEAT_MS).unref();
    this.#stops = [
      exchange.watch((sequence, at, events, command) => {
        this.#count = 0;
        const entry = { sequence, at, command };
        putCommand(this.#latest.next, entry, exchange.shortHash, false, eventHash(events));
        this.#added();
      }),
      exchange.watchRewind(() => this.#rewound()),
      clock.watch(() => this.addEntry("clock", JSON.stringify({ mode: clock.mode, rate: clock.rate }))),
      () => clearInterval(heartbeats),
    ];
  }

  end(): void {
    for (const stop of this.#stops) stop();
  }

  /** Counts a successful request with commands, and returns whether the next push has it. */
  hasRoomForSuccessful(): boolean {
    this.#successful += 1;
    return this.#successful <= MAX_SUCCESSFUL;
  }

  /** Adds an entry that is not a command; `data` is JSON. */
  addEntry(kind: EntryKind, data: string): void {
    const { exchange } = this.#opened;
    const { sequence, now } = exchange;
    if (kind === "request" && this.#rewind !== null) this.#rewind.beginning ??= this.#beginning();
    this.#count += 1;
    putEntry(this.#latest.next, `${sequence}.${this.#count}-${this.#name}`, kind, now, data);
    this.#added();
  }

  /** Yields what is sent to a reader until it has ended. */
  async *piecesFor(reader: Reader, from: "start" | "now", since: string | null): AsyncGenerator<Piece> {
    const latest = this.#latest;
    const idPrefixes = idPrefixesOf(since);
    const position = latest.positionAfter(idPrefixes);
    const wantsHistory = since === null ? from === "start" : /^\d+$|-start$/.test(since);
    if (position !== null) {
      reader.position = position;
      yield HEARTBEAT;
    } else if (wantsHistory) yield* this.#history(reader, idPrefixes);
    else yield* this.#opening(reader, since === null ? "now" : "unknown");
    this.#pushSoon();
    while (!reader.isOver) {
      if (reader.position < latest.first) {
        yield* this.#opening(reader, reader.position < (this.#rewind?.position ?? 0) ? "putBack" : "slow");
      } else if (reader.position < this.#durableEnd) {
        const bytes = latest.read(reader.position, this.#durableEnd);
        reader.position += bytes.length;
        yield bytes;
      } else {
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
        if (reader.position >= this.#durableEnd && reader.position >= latest.first) yield HEARTBEAT;
      }
    }
  }

  /**
   * Yields the opening entry for a reader that gets no history: the current state, or only the facts for reason `now`.
   * After a rewind it is the state then, as long as the entries since are in the buffer.
   */
  async *#opening(reader: Reader, reason: OpeningReason): AsyncGenerator<Piece> {
    let beginning: Beginning;
    do {
      const rewound = reason === "putBack" ? this.#rewind?.beginning : null;
      const isInBuffer = rewound && rewound.position >= this.#latest.first;
      beginning = isInBuffer ? rewound : this.#beginning();
      reader.position = beginning.position;
    } while (!(await this.#flushAndCheck(reader)));
    yield* this.#openingPieces(beginning.id, reason, beginning.snapshot);
  }

  /**
   * Yields the session from its start, or after the entry whose id matches `idPrefixes`. The last entry has the id of the
   * entry in the buffer after which the reader continues.
   */
  async *#history(reader: Reader, idPrefixes: readonly string[]): AsyncGenerator<Piece> {
    const { session, persistence, clock } = this.#opened;
    reader.position = this.#latest.end;
    const lastId = this.#latest.latest;
    // Time may have passed since the last entry, or been rewound: a clock entry ends the history.
    const time = { t: this.#opened.exchange.now, d: { mode: clock.mode, rate: clock.rate } };
    const end = `${lastId}event: clock\ndata: ${JSON.stringify(time)}\n\n`;
    const { entries, refused } = session;
    if (entries === null || persistence.broken !== null) {
      // After a disk failure the recorded start of the session is wrong.
      yield* this.#opening(reader, "tooLong");
      return;
    }
    const exchange = this.#opened.atSessionStart();
    if (!(await this.#flushAndCheck(reader))) return;
    const start = idLineOf(exchange);
    let isFound = idPrefixes.length === 0 || idPrefixes.some((prefix) => start.startsWith(prefix));
    if (idPrefixes.length === 0) yield* this.#openingPieces(start, "start", exchange.snapshot());
    const buffer = new LineBuffer();
    let count = 0;
    for (const id of putHistory(buffer, exchange, entries, refused)) {
      count += 1;
      if (!isFound) {
        isFound = idPrefixes.some((prefix) => id.startsWith(prefix));
        buffer.clear();
      }
      if (count % HISTORY_BATCH !== 0) continue;
      yield buffer.bytes.slice();
      buffer.clear();
      if (reader.isOver || reader.position < this.#latest.first) return;
    }
    yield buffer.bytes;
    if (isFound) yield end;
    if (!isFound) yield* this.#opening(reader, "unknown");
  }

  *#openingPieces(id: string, reason: OpeningReason, snapshot: Snapshot): Generator<Piece> {
    const { origin, clock, beganAtOrigin } = this.#opened;
    const { mode, rate } = clock;
    const { state, now, sequence, digest } = snapshot;
    const { hash } = new HistoryDigest(digest);
    const facts = {
      ...{ reason, t: now, format: FORMAT, engine: VERSION, seed: origin.config.seed },
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
      const { devAccounts } = origin;
      const header = JSON.stringify({ format: STATE_FORMAT, now, sequence, digest, devAccounts });
      const begun = head({ config: state.config, start: now });
      yield `${begun},"base":{"kind":"state","content":{"clobsim":${header},`;
      yield* inPieces(documentLines(state), "");
      yield "}}}\n\n";
    }
  }

  /**
   * Waits until everything done so far is durable. Returns whether the reader's position is still in the buffer.
   * @throws PersistenceError if persistence failed.
   */
  async #flushAndCheck({ position }: Reader): Promise<boolean> {
    const { persistence } = this.#opened;
    try {
      await persistence.flush(persistence.position);
    } catch (error) {
      if (position >= this.#latest.first) throw error;
    }
    return position >= this.#latest.first;
  }

  /** Chooses a new random part of ids. Returns the id line after which the next entry comes. */
  #startIds(): string {
    this.#name = randomBytes(4).toString("hex");
    this.#count = 0;
    return `id: ${this.#opened.exchange.sequence}.0-${this.#name}\n`;
  }

  #rewound(): void {
    this.#latest.clear(this.#startIds());
    this.#rewind = this.#readers.size === 0 ? null : { position: this.#latest.first, beginning: null };
    this.#pushSoon();
  }

  /** Returns the beginning of a reader that begins now. */
  #beginning(): Beginning {
    const { end, latest } = this.#latest;
    return { position: end, id: latest, snapshot: this.#opened.exchange.snapshot() };
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
    this.#successful = 0;
    this.#pushedAt = performance.now();
    const rewoundAt = this.#rewind?.position ?? 0;
    if ([...this.#readers].every(({ position }) => position >= rewoundAt)) this.#rewind = null;
    const { persistence } = this.#opened;
    const { end } = this.#latest;
    try {
      await persistence.flush(persistence.position);
      this.#durableEnd = Math.max(this.#durableEnd, end);
    } catch {
      // The exchange was rewound, which has removed the entries that were rolled back.
    }
    this.#wake();
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

/** Returns prefixes of the id lines that match a Last-Event-ID. A bare number is that command, or the first entry of a feed. */
function idPrefixesOf(since: string | null): readonly string[] {
  if (since === null) return [];
  return /^\d+$/.test(since) ? [`id: ${since}-`, `id: ${since}.0-`] : [`id: ${since}\n`];
}
