import { ApiError } from "../../api/errors.ts";
import { headBlock } from "../../core/chain/chain.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf } from "../../core/ids.ts";
import type { State } from "../../core/state.ts";
import { parseDuration, parseIso, toIso } from "../../core/time.ts";
import { MAX_MILLIS, type Millis, millis } from "../../core/units.ts";
import type { ClockMode } from "../../engine/clock.ts";
import type { Watcher } from "../../engine/exchange.ts";
import type { Service } from "../service.ts";

interface NewClock {
  readonly mode?: ClockMode | undefined;
  readonly time?: string | undefined;
  readonly advance?: string | undefined;
  readonly rate?: number | undefined;
}

/** The virtual clock as it stands. */
export function clockReply({ clock, exchange }: Service): {
  mode: ClockMode;
  time: string;
  rate: number;
  unixTime: number;
} {
  return {
    mode: clock.mode,
    time: toIso(exchange.now),
    rate: clock.rate,
    unixTime: Math.floor(exchange.now / 1000),
  };
}

/** Sets the clock, forward only, and answers what became due on the way. */
export async function changeClock(service: Service, change: NewClock): Promise<object> {
  const { clock, slices } = service;
  const fired = await clock.change(slices, () => {
    const mode = modeOf(service, change);
    const to = target(service.exchange.now, change, mode === "real" ? clock.wallTime : null);
    return firedBy(service, clock.moveInSteps({ mode, rate: change.rate ?? clock.rate }, to));
  });
  return { ...clockReply(service), fired };
}

function modeOf({ clock }: Service, { mode: asked, rate }: NewClock): ClockMode {
  const mode = asked ?? (rate === undefined ? clock.mode : "scaled");
  if (rate !== undefined && mode !== "scaled") {
    throw wrong("rate", `rate goes with mode scaled, not with ${mode}`);
  }
  if (mode === "scaled" && rate === undefined && clock.mode !== "scaled") {
    throw wrong("rate", "mode scaled needs a rate: virtual seconds per wall second");
  }
  return mode;
}

/** Takes steps of the clock, and answers what became due in them; what others cause between two of them does not count. */
function* firedBy(
  { exchange }: Service,
  steps: Iterator<undefined, boolean>,
): Generator<undefined, object[]> {
  const fired: object[] = [];
  const note: Watcher = (_sequence, at, events) => void fired.push(...firedIn(exchange.state, at, events));
  for (;;) {
    const unwatch = exchange.watch(note);
    try {
      if (steps.next().done === true) return fired;
    } finally {
      unwatch();
    }
    yield;
  }
}

/** What of the events that time has caused an answer about the clock names; the state is that behind them. */
export function firedIn(state: State, at: Millis, events: readonly DomainEvent[]): object[] {
  return events.flatMap((event): object[] => {
    if (event.kind === "orderExpired") {
      const orderId = idOf(state.idPrefixes.order, event.order);
      return [{ kind: "ORDER_EXPIRED", orderId, at: toIso(at) }];
    }
    if (event.kind !== "blocksMined" && event.kind !== "blockSealed") return [];
    const { height, count } = headBlock(state.chain);
    return [{ kind: "BLOCK_MINED", blockNumber: height, transactions: count, at: toIso(at) }];
  });
}

/** Where the change moves the clock: forward, or nowhere. Mode real alone catches up with the wall clock. */
function target(now: Millis, { mode, time, advance }: NewClock, wall: Millis | null): Millis {
  if (time !== undefined && advance !== undefined) {
    throw wrong("advance", "time and advance are both given: give one of them");
  }
  if (advance !== undefined) {
    const duration = parseDuration(advance);
    if (duration === null)
      throw wrong("advance", `advance must be a duration such as 90s, 2h or 500ms, found ${quoted(advance)}`);
    return within(now + duration);
  }
  if (time === undefined) return mode === "real" && wall !== null && wall > now ? wall : now;
  const at = parseIso(time);
  if (at === null) throw wrong("time", `time must be ISO-8601 with a zone, found ${quoted(time)}`);
  if (at < now)
    throw wrong(
      "time",
      `time ${toIso(at)} is before the clock's ${toIso(now)}, and time never runs backwards`,
    );
  return at;
}

function within(at: number): Millis {
  if (at <= MAX_MILLIS) return millis(at);
  throw wrong("advance", `the clock ends at ${toIso(MAX_MILLIS)}`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));

const wrong = (field: string, message: string): ApiError =>
  new ApiError("INVALID_PARAMETER", message, { details: { fields: [field] } });
