import { Buffer } from "node:buffer";
import type { ReplyTo } from "../../api/endpoints.ts";
import { counted } from "../../core/format.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import { FEES, findAccount, type State } from "../../core/state.ts";
import type { Steps } from "../../core/steps.ts";
import type { Address, SettlementMode } from "../../core/terms.ts";
import type { Exchange } from "../../engine/exchange.ts";
import {
  type Accepted as JournalEntry,
  type RefusedEntry,
  type SessionLog,
  withRefused,
} from "../../engine/journal.ts";
import { seedOfName } from "../../scenario/language/read-scenario.ts";
import { MAX_SCENARIO_BYTES } from "../../scenario/language/scenario-files.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { isSeed, scenarioText } from "../scenario-text.ts";
import { positionCallIn, type Trace, type TracedCommand, traceCommands } from "../trace.ts";
import { accountNames, marketEntries, orderNames, touchedMarkets, Vocabulary } from "../vocabulary.ts";
import { finalExpectations, restingBefore, startingFunds, writeOpening } from "./first-and-last-steps.ts";
import { partiesOfRefused, RecordingError, Script, writeRefused } from "./script.ts";
import { isMineable, type ObservedBlocks, observeBlocks, SessionRecorder } from "./session-recorder.ts";

/** Minimum size of a step that places an order: `- a: BUY 1 YES @ 0.5` and the line feed. */
const MIN_ORDER_BYTES = 20;

/**
 * Records the session so far of a running exchange as a scenario file.
 * @throws RecordingError if that is impossible.
 */
export function* recordSession({
  log,
  ...session
}: Omit<RecordedSession, "entries" | "refused"> & { readonly log: SessionLog }): Steps<RecordedScenario> {
  const { entries, refused } = log;
  if (entries === null) throw new RecordingError(log.tooLong, "SESSION_TOO_LONG");
  return yield* recordScenario({ ...session, entries, refused });
}

const tooLong = (what: string): RecordingError =>
  new RecordingError(
    `the session ${what}, and a scenario file has at most ${MAX_SCENARIO_BYTES} bytes`,
    "SESSION_TOO_LONG",
  );

/** A session to record. */
export interface RecordedSession {
  /** Returns an exchange in the state in which the session began. */
  readonly open: () => Exchange;
  /** Accepted commands, oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Refused requests, oldest first. */
  readonly refused: readonly RefusedEntry[];
  /** Accounts that are named by their index; addresses in lower case. */
  readonly devAccounts: readonly Address[];
  /** Name of the scenario; null for `recorded session of 12 orders`. */
  readonly name: string | null;
}

/** A session as a scenario file, with its numbers of orders and trades. */
export type RecordedScenario = Readonly<ReplyTo<"recordScenario">>;

/**
 * Records a session as a scenario that repeats it on a new exchange, with its settlements and their faults, and expects
 * the same results. Each step is executed when it is written, so that the scenario passes. The same session gives the
 * same bytes. Takes two steps for each command.
 * @throws RecordingError if no scenario can express the session, or it does not fit in a file.
 */
export function* recordScenario(recorded: RecordedSession): Steps<RecordedScenario> {
  const { open, entries, refused, devAccounts, name } = recorded;
  const placed = entries.filter(({ command }) => command.kind === "placeOrder").length;
  if (placed * MIN_ORDER_BYTES > MAX_SCENARIO_BYTES) {
    throw tooLong(`has ${placed} orders, more than ${Math.floor(MAX_SCENARIO_BYTES / MIN_ORDER_BYTES)}`);
  }
  const trace = yield* traceCommands(open(), entries);
  assertNoDivergence(trace);
  const all = inNonceOrder(trace.commands, trace.opening);
  const { commands: relevant, removed } = withoutIrrelevantCalls({ ...trace, commands: all });
  // The faucet and the account that collects fees have no name in a scenario.
  const isOfExchange = (address: Address): boolean =>
    (findAccount(trace.end, address)?.number ?? Number.POSITIVE_INFINITY) <= FEES;
  const commands = relevant.filter(
    ({ command }) => command.kind !== "fundAccount" || !isOfExchange(command.address),
  );
  const session = { ...trace, commands };
  const { opening, end, start: clock } = session;
  const parties = partiesOfRefused(refused, end);
  const { actors, nameOf } = accountNames(session, devAccounts, parties.accounts);
  const markets = touchedMarkets(session, actors, parties.markets);
  const resting = restingBefore(opening, markets);
  const funds = startingFunds(session, markets, actors, resting);
  const terms = marketEntries(markets, resting);
  const orders = end.orders.size - opening.orders.size;
  const title = name ?? `recorded session of ${counted(orders, "order")}`;
  const { seed, balances } = end.config;
  const blocks = observeBlocks(all, opening, end);
  const names = orderNames(session, blocks.faulted);
  const accountAt = (address: Address): string => nameOf(end.accountByAddress.get(address) ?? 0);
  const words = new Vocabulary(markets, end, accountAt, (number) => names.get(number));
  const header = { settlement: settlementOf(session), balances, clock };
  const usedSeed = isSeed(seed) ? seed : seedOfName(title);
  const venue = new LocalVenue({ ...header, seed: usedSeed, markets: terms.terms });
  const script = new Script(venue, { session, words, names, markets, actors });
  for (const [account, amounts] of funds) script.openAccount(words.account(account), amounts);
  writeOpening(script, resting);
  if (script.steps.length > 0) script.steps.unshift("What rests from the start, oldest first.");
  script.beginSession();
  script.steps.push("The session.");
  yield* recordSteps(script, blocks, withRefused(all, refused));
  const scenario = scenarioText({
    ...header,
    remarks: [
      "A session that clobsim recorded: its commands and their results.",
      ...terms.remarks,
      ...remarksOf(isSeed(seed), relevant.length - commands.length, removed),
    ],
    name: title,
    seed,
    markets: terms.entries,
    accounts: Object.fromEntries(
      [...funds].map(([account, amounts]) => [words.account(account), words.assets(amounts)]),
    ),
    steps: script.steps,
  });
  const bytes = Buffer.byteLength(scenario);
  if (bytes > MAX_SCENARIO_BYTES) throw tooLong(`takes ${bytes} bytes as a scenario`);
  return { name: title, scenario, orders, trades: end.trades.size - opening.trades.size };
}

/** No step can set when blocks are mined. In a session that changes this, steps mine each block. */
function settlementOf({ opening, commands, end: { config } }: Trace): SettlementMode {
  const { mining } = opening.chain;
  const modes = commands.flatMap(({ command }) => (command.kind === "setMining" ? [command.mode] : []));
  const isChanged = [...modes, ...(mining === null ? [] : [mining.mode])].some(
    (mode) => mode === "auto" || mode !== config.settlement,
  );
  return isChanged ? "manual" : config.settlement;
}

/** A scenario has only the rules of this version; a session with other rules may have other results. */
function assertNoDivergence({ divergence, thrown }: Trace): void {
  if (thrown !== null) throw thrown;
  if (divergence === null) return;
  throw new RecordingError(
    divergence === "extra commands"
      ? "replayed with the rules of this version, the session does more than it did"
      : `replayed with the rules of this version, the session differs from sequence ${divergence.sequence} on: ${divergence.command.kind}`,
  );
}

/** Writes the steps of a session, and the expectations after them. */
function* recordSteps(script: Script, blocks: ObservedBlocks, all: Iterable<TracedCommand | RefusedEntry>) {
  const steps = new SessionRecorder(script, blocks);
  const written = new Set(script.described.session.commands);
  let [last, refused] = [0, 0];
  for (const each of all) {
    yield;
    if ("request" in each) {
      refused += 1;
      writeRefused(script, each, refused);
    } else {
      steps.add(each, written.has(each));
      last = each.sequence;
    }
  }
  steps.finish(last + 1);
  script.steps.push({ expect: finalExpectations(steps.trades, script) });
}

/** `fundings` is the number of commands that funded accounts of the exchange, `calls` of transactions without effect. */
const remarksOf = (isSeed: boolean, fundings: number, calls: number): string[] => [
  ...(isSeed
    ? []
    : ["A scenario cannot have the seed of the session; only ids and random draws depend on it."]),
  ...(fundings === 0 ? [] : [`Left out: the exchange's own accounts were funded ${times(fundings)}.`]),
  ...(calls === 0
    ? []
    : [`Left out: wallets acted on the chain without changing a balance, ${times(calls)}.`]),
];

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

/**
 * Orders a session's commands so that each wallet sends in the order of its nonces, as wallets of scenarios do: a
 * transaction that was sent too early comes right after the one that closes the gap, because no block includes it before.
 */
function inNonceOrder(commands: readonly TracedCommand[], { chain }: State): TracedCommand[] {
  const ordered: TracedCommand[] = [];
  /** Transactions that each wallet sent too early, by nonce, and its next nonce. A later one of the same nonce replaces another. */
  const early = new Map<string, { waiting: Map<number, TracedCommand>; next: number }>();
  for (const traced of commands) {
    const [sent] = traced.events;
    if (sent?.kind !== "transactionSent") {
      ordered.push(traced);
      continue;
    }
    const { from, nonce } = sent.content;
    const sender = early.get(from) ?? { waiting: new Map(), next: nextNonce(chain, from) };
    early.set(from, sender);
    const { waiting } = sender;
    if (nonce < sender.next) ordered.push(traced);
    else waiting.set(nonce, traced);
    for (let ready = waiting.get(sender.next); ready !== undefined; ready = waiting.get(sender.next)) {
      const before = { ...ready.before, hasExpiries: traced.before.hasExpiries };
      ordered.push({ ...ready, at: traced.at, before });
      waiting.delete(sender.next);
      // Transactions pending since before the session use the nonces between.
      do sender.next += 1;
      while (chain.wallets.get(from)?.pending.has(sender.next));
    }
  }
  // Transactions after a gap that is never closed have no effect.
  const last = commands.at(-1);
  for (const { waiting } of early.values()) {
    for (const traced of waiting.values()) ordered.push({ ...traced, at: last?.at ?? traced.at });
  }
  return ordered;
}

/**
 * Removes the transactions of wallets that a scenario does not need, and counts them. These are transactions that
 * reverted, were replaced or were never mined (one that can be mined next is kept); approvals, because a settlement that
 * failed without one is recorded as failed; transfers of the native currency and gas, because wallets of scenarios have
 * enough; transfers of nothing, or to oneself.
 * @throws RecordingError if one of them moved a balance that no step can move.
 */
function withoutIrrelevantCalls(session: Trace) {
  const moved = new Set<number>();
  for (const traced of session.commands) {
    for (const event of traced.events) {
      if (event.kind !== "callExecuted" || event.isRepeated || event.effect.moves.length === 0) continue;
      if (event.transaction <= session.opening.chain.transactions.size)
        throw new RecordingError(
          `at sequence ${traced.sequence} a block mined a transaction that a wallet sent before the session began, but a scenario begins with nothing pending`,
        );
      moved.add(event.transaction);
    }
  }
  let removed = 0;
  const commands = session.commands.filter(({ sequence, command, events }) => {
    if (command.kind === "setNativeBalance") removed += 1;
    if (command.kind !== "sendTransaction") return true;
    const [sent] = events;
    if (sent?.kind !== "transactionSent") throw new Error("sendTransaction without transactionSent");
    const isNeeded = moved.has(sent.transaction) || isMineable(session, sent.transaction);
    const hasStep =
      session.end.accountByAddress.has(command.from) && positionCallIn(session.end, command) !== null;
    if (isNeeded && hasStep) return true;
    if (moved.has(sent.transaction))
      throw new RecordingError(
        `sequence ${sequence} is a transaction (${command.call.kind}) that the wallet ${command.from} sent on the chain, and no step of a scenario can express it; all later balances depend on it`,
      );
    removed += 1;
    return false;
  });
  return { commands, removed };
}
