import { accountReply, credentialsCurl } from "../../api/accounts.ts";
import { explainAuth, type PastedRequest } from "../../api/authentication.ts";
import { entryId } from "../../api/control.ts";
import {
  type EndpointOf,
  endpointAt,
  isTradingEndpoint,
  type Operation,
  type ReplyTo,
} from "../../api/endpoints.ts";
import { ApiError, invalidFields, requireBelowLimit } from "../../api/errors.ts";
import { orderStory } from "../../api/explanations.ts";
import { orderPreview } from "../../api/trading.ts";
import { checksummed, orderOfAny, pageAt, pageOf, type View } from "../../api/view.ts";
import { headBlock } from "../../core/chain/chain.ts";
import type { DomainEvent } from "../../core/events.ts";
import { MONEY_PLACES, plainNumber, quoted, SIZE_PLACES, unitsOf } from "../../core/format.ts";
import { houseAddress, idOf } from "../../core/ids.ts";
import { invariantsInSteps } from "../../core/invariants.ts";
import { emptyAccount, findAccount, type State } from "../../core/state.ts";
import { canonicalLines } from "../../core/state-document.ts";
import type { Steps } from "../../core/steps.ts";
import { readAddress } from "../../core/terms.ts";
import { ISO_TIME, MAX_DAYS, parseDuration, parseIso, toIso } from "../../core/time.ts";
import { MAX_MILLIS, type Millis, millis, money, size } from "../../core/units.ts";
import type { ClockMode, Snapshots, StoredSnapshot } from "../../engine/clock.ts";
import type { Watcher } from "../../engine/exchange.ts";
import { type Accepted, type RefusedEntry, withRefused } from "../../engine/journal.ts";
import { VERSION } from "../../version.ts";
import { type Fault, faultPlan, timesLeft } from "../faults.ts";
import { inPieces, JsonText, StreamedAnswer } from "../messages.ts";
import type { BodyOf, Handlers, Service } from "../service.ts";
import { deriveFor, submit } from "./trading.ts";

/** Handlers of the control plane /sim, except those of the chain and of markets. */
export const controlHandlers = {
  getInfo: ({ headers }, service) => infoReply(service, headers.host),
  getClock: (_call, service) => clockReply(service),
  // Sets the clock, forward only, and returns what became due on the way.
  setClock: async ({ body }, service) => {
    const { clock, slices } = service;
    const fired = await clock.change(slices, () => {
      const mode = modeOf(service, body);
      const to = targetTime(service.exchange.now, body, clock.wallTime);
      if (mode === "real") refuseYearsOfBots(service, to);
      return firedBy(service, clock.moveInSteps({ mode, rate: body.rate ?? clock.rate }, to));
    });
    return { ...clockReply(service), fired };
  },
  reset: ({ headers }, service) => {
    service.reopen();
    return infoReply(service, headers.host);
  },
  getState: (_call, { exchange }) => new StreamedAnswer(inPieces(canonicalLines(exchange.snapshot().state))),
  getStateHash: (_call, { exchange }) => ({ hash: exchange.hash, sequence: exchange.sequence }),
  getInvariants: async (_call, { exchange, slices }) => {
    const invariants = await slices.run(invariantsInSteps(exchange.snapshot().state));
    return { hold: invariants.every(({ holds }) => holds), invariants };
  },
  listAccounts: ({ query }, _service, view) => {
    const { accounts } = view.state;
    return pageAt(accounts.size, query, (index) => accountReply(view, accounts.get(index + 1)));
  },
  getAccount: ({ path }, _service, view) => accountOf(view, requireAddress(path.address)),
  fundAccount: ({ path, body }, service, view) => {
    const address = requireAddress(path.address);
    const tokens = Object.entries(body.tokens ?? {}).map(([tokenId, shares]) => ({
      tokenId,
      size: size(exact(`tokens.${tokenId}`, shares, SIZE_PLACES)),
    }));
    const collateral = money(exact("collateral", body.collateral ?? 0, MONEY_PLACES));
    submit(service, { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) });
    return accountOf(view, address);
  },
  issueCredentials: ({ path }, service) => {
    const address = requireAddress(path.address);
    const { seed } = service.exchange.state.config;
    const house = (["faucet", "fees"] as const).find((name) => houseAddress(seed, name) === address);
    if (house === undefined) return deriveFor(service, address);
    throw new ApiError("INVALID_PARAMETER", `${address} is the exchange's own account for its ${house}`, {
      hint: "it does not trade: take any other address, such as a dev account of GET /sim",
    });
  },
  explainOrder: ({ path: { id } }, _service, view) => orderStory(view, orderOfAny(view.state, id)),
  previewOrder: ({ body }, { exchange, options }, view) =>
    orderPreview(view, exchange.now, options.prefix, body),
  explainAuth: ({ body, headers: { host } }, service) => {
    if (body.url === undefined && body.path === undefined) {
      const hint = "send { method, url, headers, body } of the request as it was sent";
      throw invalidFields("url: expected the URL or path of the request, found nothing", ["url"], hint);
    }
    const time = Math.floor(service.exchange.now / 1000);
    const { prefix } = service.options;
    const explained = explainAuth(body, (apiKey) => service.keyring.find(apiKey), { time, host, prefix });
    const open = explained.verdict === "OK" ? undefined : openRoute(body, prefix);
    return open === undefined
      ? explained
      : { ...explained, hint: `${open} needs no signature: it is answered without these headers` };
  },

  listSnapshots: ({ query }, { snapshots }) => pageOf(snapshots.all, query, snapshotReply),
  takeSnapshot: ({ body }, { snapshots }) => {
    const hint = "DELETE /sim/snapshots/{id} deletes one, POST /sim/reset all";
    requireBelowLimit(snapshots.all.length, "snapshots", hint);
    return snapshotReply(snapshots.take(body.name ?? null));
  },
  restoreSnapshot: ({ path, headers }, service) => {
    service.snapshots.restore(requireSnapshot(service.snapshots, path.idOrName));
    return infoReply(service, headers.host);
  },
  forgetSnapshot: ({ path }, { snapshots }) => {
    const snapshot = requireSnapshot(snapshots, path.idOrName);
    snapshots.delete(snapshot);
    return snapshotReply(snapshot);
  },

  listJournal: ({ query }, { session }) => {
    const { entries, refused, tooLong } = session;
    const hint = "POST /sim/reset begins a new session";
    if (entries === null) throw new ApiError("SESSION_TOO_LONG", tooLong, { hint });
    return pageOf([...withRefused(entries, refused)], query, journalEntry);
  },
  recordScenario: ({ query }, service) => service.record(query.name ?? null),
  reportSession: async ({ query }, service) =>
    new StreamedAnswer(await service.report(query.reason ?? "it was requested"), "application/x-ndjson"),
  streamSession: ({ query, headers }, { stream }) => {
    const resumed = headers["last-event-id"];
    const since =
      typeof resumed === "string" && resumed !== ""
        ? entryId.read(resumed, "Last-Event-ID", () => {})
        : query.since;
    return stream.open(query.from ?? "now", since ?? null);
  },

  getBots: (_call, service) => botsReply(service),
  startBots: ({ body: { profile, seed } }, service) => {
    service.bots.start(profile, seed);
    return botsReply(service);
  },
  endBots: (_call, { bots }) => {
    const profile = bots.running?.profile ?? null;
    return { profile, canceled: bots.end() };
  },

  listFaults: ({ query }, { faults }) => pageOf(faults.all, query, faultReply),
  addFault: ({ body }, { faults }) => {
    const plan = faultPlan(body);
    const hint = "DELETE /sim/faults/{id} removes one, DELETE /sim/faults all";
    requireBelowLimit(faults.all.length, "faults", hint);
    return faultReply(faults.add(plan));
  },
  removeFaults: (_call, { faults }) => ({ removed: faults.removeAll().map(({ id }) => id) }),
  removeFault: ({ path: { id } }, { faults }) => {
    const fault = faults.remove(id);
    if (fault !== undefined) return faultReply(fault);
    throw new ApiError("FAULT_NOT_FOUND", `no fault ${quoted(id)}`, {
      hint:
        faults.all.length === 0
          ? "there are none: POST /sim/faults injects one"
          : "GET /sim/faults lists them",
    });
  },

  getOpenApi: async (_call, { options: { prefix, unknownFields }, numbers }) => {
    // Loaded with the first request, so that it does not delay the start.
    const { openApiDocument } = await import("../../api/openapi.ts");
    const document = openApiDocument({
      ...{ version: VERSION, serverUrl: prefix || "/", numbers: numbers.mode, unknownFields },
    });
    return new JsonText(JSON.stringify(document));
  },
  getHealth: (_call, { exchange }) => ({ status: "ok", time: toIso(exchange.now) }),
} satisfies Partial<Handlers<Operation>>;

/** Returns the route of a pasted request if it needs no signature, otherwise undefined. */
function openRoute({ method, url, path = "" }: PastedRequest, prefix: string): string | undefined {
  const target = (url ?? path).replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  const bare = prefix !== "" && target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target;
  const sent = method.toUpperCase();
  const found = endpointAt(sent, bare) ?? endpointAt(sent, `/clob${bare}`);
  return found === undefined || isTradingEndpoint(found)
    ? undefined
    : `${found.method} ${prefix}${found.path}`;
}

/** Returns the reply of GET /sim; `host` is the request's Host header, for the examples in the reply. */
function infoReply(service: Service, host = "localhost"): ReplyTo<"getInfo"> {
  const { exchange, numbers, options } = service;
  const { state } = exchange;
  const { seed, credentials, approvals = "granted", faucet, ...terms } = state.config;
  return {
    name: "clobsim",
    version: VERSION,
    seed,
    clock: clockReply(service),
    sequence: exchange.sequence,
    stateHash: exchange.hash,
    config: {
      numbers: numbers.mode,
      credentials,
      personalSign: options.personalSign,
      unknownFields: options.unknownFields,
      ...terms,
      approvals,
      faucet: {
        collateral: numbers.money(faucet.collateral),
        sharesOfEveryToken: numbers.size(faucet.everyMarket),
      },
    },
    events: state.events.size,
    markets: state.markets.size,
    orders: state.orders.size,
    trades: state.trades.size,
    devAccounts: options.devAccounts.map((account) => ({
      ...account,
      curl: credentialsCurl(`http://${host}${options.prefix}`, account.address, options.simToken !== null),
    })),
    houseAccounts: {
      faucet: checksummed(houseAddress(seed, "faucet")),
      fees: checksummed(houseAddress(seed, "fees")),
    },
  };
}

function requireAddress(text: string): string {
  const address = readAddress(text);
  if (address !== null) return address;
  const message = `expected an address of 0x and 40 hex digits, found ${quoted(text)}`;
  throw new ApiError("INVALID_PARAMETER", message);
}

/** Returns an account; an unknown address has an empty one, as on any chain. */
const accountOf = (view: View, address: string): ReplyTo<"getAccount"> =>
  accountReply(view, findAccount(view.state, address) ?? emptyAccount(0, address));

/** Reads a decimal in a field of a body. @throws ApiError `INVALID_PARAMETER` if it has more decimals than `places` */
export function exact(field: string, value: number, places: number): number {
  const units = unitsOf(value, places);
  if (units !== null) return units;
  throw invalidFields(`${field} ${plainNumber(value)} has more than ${places} decimals`, [field]);
}

type Fired = ReplyTo<"setClock">["fired"][number];

type NewClock = BodyOf<EndpointOf<"setClock">>;

export function clockReply({ clock, exchange }: Service): ReplyTo<"getClock"> {
  return {
    mode: clock.mode,
    time: toIso(exchange.now),
    rate: clock.rate,
    unixTime: Math.floor(exchange.now / 1000),
  };
}

const DAY_MS = 86_400_000;
const MAX_DAYS_OF_BOTS = 31;

/** Refuses mode real if bots would trade for too many days, because a frozen clock may be a year behind the wall clock. */
function refuseYearsOfBots({ bots, exchange }: Service, to: Millis): void {
  const days = Math.ceil((to - exchange.now) / DAY_MS);
  if (bots.running === null || days <= MAX_DAYS_OF_BOTS) return;
  const limit = `at most ${MAX_DAYS_OF_BOTS} are possible`;
  const hint = "DELETE /sim/bots first, and start them again after";
  throw invalidFields(`mode real would have bots trade for ${days} days at once, ${limit}`, ["mode"], hint);
}

function modeOf({ clock }: Service, { mode: asked, rate }: NewClock): ClockMode {
  const mode = asked ?? (rate === undefined ? clock.mode : "scaled");
  if (rate !== undefined && mode !== "scaled") {
    throw invalidFields(`rate goes with mode scaled, not with ${mode}`, ["rate"]);
  }
  if (mode === "scaled" && rate === undefined && clock.mode !== "scaled") {
    throw invalidFields("mode scaled needs a rate: virtual seconds per wall second", ["rate"]);
  }
  return mode;
}

/** Runs steps of the clock and returns what became due in them, without what other requests cause between two steps. */
function* firedBy({ exchange }: Service, steps: Iterator<undefined, boolean>): Steps<Fired[]> {
  const fired: Fired[] = [];
  const collect: Watcher = (_sequence, at, events) => void fired.push(...firedIn(exchange.state, at, events));
  for (;;) {
    const unwatch = exchange.watch(collect);
    try {
      if (steps.next().done === true) return fired;
    } finally {
      unwatch();
    }
    yield;
  }
}

/** Returns the events that a clock reply lists; `state` must be the state after them. */
export function firedIn(state: State, at: Millis, events: readonly DomainEvent[]): Fired[] {
  return events.flatMap((event): Fired[] => {
    if (event.kind === "orderExpired") {
      const orderId = idOf(state.idPrefixes.order, event.order);
      return [{ kind: "ORDER_EXPIRED", orderId, at: toIso(at) }];
    }
    if (event.kind !== "blocksMined" && event.kind !== "blockSealed") return [];
    const { height, count } = headBlock(state.chain);
    return [{ kind: "BLOCK_MINED", blockNumber: height, transactions: count, at: toIso(at) }];
  });
}

/** Returns the time to which a change moves the clock, never before `now`. Mode real alone advances to the wall clock. */
function targetTime(now: Millis, { mode, time, advance }: NewClock, wall: Millis): Millis {
  if (time !== undefined && advance !== undefined) {
    throw invalidFields("time and advance are both given: give one of them", ["advance"]);
  }
  if (advance !== undefined) {
    const duration = parseDuration(advance);
    if (duration === null) {
      const expected = `a duration such as 90s, 2h or 500ms, at most ${MAX_DAYS}d`;
      throw invalidFields(`advance must be ${expected}, found ${quoted(advance)}`, ["advance"]);
    }
    const end = now + duration;
    if (end <= MAX_MILLIS) return millis(end);
    throw invalidFields(`the clock ends at ${toIso(MAX_MILLIS)}`, ["advance"]);
  }
  if (time === undefined) return mode === "real" && wall > now ? wall : now;
  const at = timeIn("time", time);
  if (at >= now) return at;
  const message = `time ${toIso(at)} is before the clock's ${toIso(now)}, and time never runs backwards`;
  throw invalidFields(message, ["time"]);
}

const MAX_LISTED = 10;

const snapshotReply = ({ id, name, hash, exchange }: StoredSnapshot): ReplyTo<"takeSnapshot"> => ({
  ...{ id, name, sequence: exchange.sequence, time: toIso(exchange.now), hash },
});

/** Returns the snapshot with an id, or the latest with a name. @throws ApiError `SNAPSHOT_NOT_FOUND`. */
function requireSnapshot(snapshots: Snapshots, idOrName: string): StoredSnapshot {
  const snapshot = snapshots.find(idOrName);
  if (snapshot !== undefined) return snapshot;
  const hint = hintOf(snapshots.all);
  throw new ApiError("SNAPSHOT_NOT_FOUND", `no snapshot ${quoted(idOrName, 100)}`, { hint });
}

/** Lists the latest snapshots, newest first, by id and name. */
function hintOf(all: readonly StoredSnapshot[]): string {
  if (all.length === 0) return "there are none: POST /sim/snapshots takes one";
  const latest = all.slice(-MAX_LISTED).reverse();
  const names = latest.map(({ id, name }) => (name === null ? id : `${id} ${JSON.stringify(name)}`));
  const more = all.length > MAX_LISTED ? `, and ${all.length - MAX_LISTED} older ones` : "";
  return `there are ${names.join(", ")}${more}`;
}

function journalEntry(entry: Accepted | RefusedEntry): ReplyTo<"listJournal">["data"][number] {
  const { kind, ...data } = "request" in entry ? { kind: "refused", ...entry.request } : entry.command;
  return { sequence: entry.sequence, at: toIso(entry.at), kind, data };
}

function botsReply({ bots: { running }, exchange: { state } }: Service): ReplyTo<"getBots"> {
  if (running === null) return { profile: null, seed: null, bots: [] };
  const { profile, seed, bots } = running;
  return {
    profile,
    seed,
    bots: bots.map(({ name, kind, address }) => {
      const account = findAccount(state, address);
      return {
        name,
        kind,
        address: checksummed(address),
        openOrders: account?.openCount ?? 0,
        fills: account?.fills.size ?? 0,
      };
    }),
  };
}

function faultReply(fault: Fault): ReplyTo<"addFault"> {
  const { operations, latencyMs, chance, ...shown } = fault;
  return { ...shown, remaining: timesLeft(fault) };
}

/** Reads a time in a field of a body. @throws ApiError `INVALID_PARAMETER` */
export function timeIn(field: string, text: string): Millis {
  const at = parseIso(text);
  if (at !== null) return at;
  throw invalidFields(`${field} must be ${ISO_TIME}, found ${quoted(text)}`, [field]);
}
