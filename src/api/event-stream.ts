// What `GET /sim/stream` tells, and how its text is read. Browsers read it, too: nothing of Node's, no schema. A package's
// types have it as it stands here: nothing of the core.

/** Why a reader starts where it does: as requested, or with the state because the entries it would resume from are not available. */
export type OpeningReason = "start" | "now" | "slow" | "putBack" | "unknown" | "tooLong";

/** Where a reader starts; `t` is virtual time in Unix ms. */
export interface StreamOpening {
  readonly reason: OpeningReason;
  readonly t: number;
  readonly format: string;
  /** The version of the program. */
  readonly engine: string;
  readonly seed: string;
  /** Number of commands accepted so far. */
  readonly sequence: number;
  /** Of the state. */
  readonly hash: string;
  readonly clock: StreamClock & { readonly followsWall: boolean };
  /** With all reasons but `now`: the rules, and what the exchange is opened with, as in a journal. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly start?: number;
  readonly base?: { readonly kind: "world" | "state"; readonly content: object };
}

/** How the clock runs. */
export interface StreamClock {
  readonly mode: "real" | "frozen" | "scaled";
  /** Virtual seconds per wall second; applies only in scaled mode. */
  readonly rate: number;
}

/** An accepted command, in the long form of a journal's line. */
export interface StreamCommand {
  /** Its sequence. */
  readonly s: number;
  /** Virtual Unix ms. */
  readonly t: number;
  readonly k: string;
  readonly d: Readonly<Record<string, unknown>>;
  /** 8 hex digits that name what it caused. */
  readonly r: string;
}

/** A request that was refused, as a journal notes it. */
export interface StreamRefused {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  /** Address that signed it or claims to have; null if unknown. */
  readonly address: string | null;
  /** Whether its signature is valid. */
  readonly isProven: boolean;
  readonly status: number;
  readonly code: string;
  readonly field: string | null;
  /** The request as far as it could be parsed. */
  readonly asked: Readonly<Record<string, unknown>> | null;
}

/** A request that was answered. */
export interface StreamRequest {
  readonly requestId: string;
  /** `WS` for a message on a WebSocket to the chain. */
  readonly method: string;
  readonly path: string;
  /** 0 if the connection was cut without a response. */
  readonly status: number;
  /** Wall milliseconds from arrival to response. */
  readonly ms: number;
  /** The error's code. */
  readonly code?: string;
  /** The injected fault that hit it. */
  readonly fault?: string;
  /** The address whose credentials signed it. */
  readonly caller?: string;
  /** The commands accepted between its start and its response; none if `last` is below `first`. */
  readonly first: number;
  readonly last: number;
}

/** What happened at a moment, in virtual Unix ms. */
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
    /** Goes on behind it when it is sent as `Last-Event-ID`. `parseInt` of it is the sequence. */
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
 * Reads the bytes of a `text/event-stream` as they come: each call answers the events that are whole by then, after
 * section 9.2 of the HTML standard. Lines that end with a carriage return alone, and `retry`, are not read.
 */
export function eventStreamReader(): (bytes: Uint8Array) => SentEvent[] {
  const decoder = new TextDecoder();
  let unfinished: string[] = [];
  let [id, event, data] = ["", "", [] as string[]];
  return (bytes) => {
    const events: SentEvent[] = [];
    const lines = decoder.decode(bytes, { stream: true }).split("\n");
    // A line may be much longer than what comes at a time: it is put together once.
    unfinished.push(lines[0] as string);
    if (lines.length === 1) return events;
    lines[0] = unfinished.join("");
    unfinished = [lines.pop() as string];
    for (const whole of lines) {
      const line = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
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

/** The entry of the live feed that an event tells. */
export const streamEntry = ({ id, event, data }: SentEvent): StreamEntry =>
  ({ id, event, data: JSON.parse(data) }) as StreamEntry;
