// Types of `GET /sim/stream` and a reader of its text. Browsers load this file, so it uses neither Node nor schemas. The
// package publishes its types unchanged, so it uses no types of the core.

/** Why a reader starts where it does: as requested, or with the state because the entries it would resume from are not available. */
export type OpeningReason = "start" | "now" | "slow" | "putBack" | "unknown" | "tooLong";

/** Where a reader starts; `t` is virtual time in Unix ms. */
export interface StreamOpening {
  readonly reason: OpeningReason;
  readonly t: number;
  readonly format: string;
  /** Version of the program. */
  readonly engine: string;
  readonly seed: string;
  /** Number of commands accepted so far. */
  readonly sequence: number;
  /** Hash of the state. */
  readonly hash: string;
  readonly clock: StreamClock & { readonly followsWall: boolean };
  /** With all reasons but `now`: configuration, start and base of the exchange, as in a journal. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly start?: number;
  readonly base?: { readonly kind: "world" | "state"; readonly content: object };
}

/** Mode and rate of the clock, as in `GET /sim/clock`. */
export interface StreamClock {
  readonly mode: "real" | "frozen" | "scaled";
  /** Virtual seconds per wall second: 1 when real, 0 when frozen. */
  readonly rate: number;
}

/** An accepted command, in the long form of a journal line. */
interface StreamCommand {
  /** Sequence. */
  readonly s: number;
  /** Virtual Unix ms. */
  readonly t: number;
  readonly k: string;
  readonly d: Readonly<Record<string, unknown>>;
  /** 8 hex digits of a hash of its events. */
  readonly r: string;
}

/** A refused request, as in a journal. */
interface StreamRefused {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  /** Address that signed it or claims to have; null if unknown. */
  readonly address: string | null;
  /** Whether its signature is valid. */
  readonly isProven: boolean;
  readonly status: number;
  readonly code: string;
  readonly field: string | null;
  /** The fields that could be parsed. */
  readonly asked: Readonly<Record<string, unknown>> | null;
}

/** An answered request. */
export interface StreamRequest {
  readonly requestId: string;
  /** `WS` for a message on a WebSocket to the chain. */
  readonly method: string;
  readonly path: string;
  /** 0 if the connection was closed without a response. */
  readonly status: number;
  /** Wall milliseconds from arrival to response. */
  readonly ms: number;
  /** Error code. */
  readonly code?: string;
  /** Id of the applied fault; two ids, separated by a comma, if one more delayed the request. */
  readonly fault?: string;
  /** Address whose credentials signed it. */
  readonly caller?: string;
  /** The commands accepted between its start and its response; none if `last` is below `first`. */
  readonly first: number;
  readonly last: number;
}

/** Data with its time in virtual Unix ms. */
interface At<Data> {
  readonly t: number;
  readonly d: Data;
}

/** Data of each kind of entry. */
interface StreamData {
  readonly opening: StreamOpening;
  readonly command: StreamCommand;
  readonly refused: At<StreamRefused>;
  readonly clock: At<StreamClock>;
  readonly request: At<StreamRequest>;
}

export type EntryKind = keyof StreamData;

/** An entry of the live feed. */
export type StreamEntry = {
  [Kind in EntryKind]: {
    /** A reader that sends it as `Last-Event-ID` resumes after it. `parseInt` of it is the sequence. */
    readonly id: string;
    readonly event: Kind;
    readonly data: StreamData[Kind];
  };
}[EntryKind];

/** An event of `text/event-stream`. */
interface SentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Returns a parser of `text/event-stream` (section 9.2 of the HTML standard): each call takes the next bytes and returns
 * the events completed by them. Line ends of a single carriage return and `retry` are not supported.
 */
export function eventStreamReader(): (bytes: Uint8Array) => SentEvent[] {
  const decoder = new TextDecoder();
  let unfinished: string[] = [];
  let [id, event, data] = ["", "", [] as string[]];
  return (bytes) => {
    const events: SentEvent[] = [];
    const lines = decoder.decode(bytes, { stream: true }).split("\n");
    // A line may be much longer than a chunk, so its parts are joined only once.
    unfinished.push(lines[0] as string);
    if (lines.length === 1) return events;
    lines[0] = unfinished.join("");
    unfinished = [lines.pop() as string];
    for (const ended of lines) {
      const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (name === "id") id = value;
      else if (name === "event") event = value;
      else if (name === "data") data.push(value);
      else if (line === "") {
        if (data.length > 0) events.push({ id, event: event || "message", data: data.join("\n") });
        [event, data] = ["", []];
      }
    }
    return events;
  };
}

/** Parses an event of the live feed. */
export const streamEntry = ({ id, event, data }: SentEvent): StreamEntry =>
  ({ id, event, data: JSON.parse(data) }) as StreamEntry;
