import fc from "fast-check";
import {
  CERTAIN,
  INITIAL_NATIVE_BALANCE,
  type SettlementFaultKind,
  unminedOf,
} from "../../../src/core/chain/chain.ts";
import { CONTRACTS, NO_PARENT } from "../../../src/core/chain/contracts.ts";
import { type CallContent, type ContractCall, callGas } from "../../../src/core/chain/transaction.ts";
import type { Command, Stamped } from "../../../src/core/commands.ts";
import { tokenIdIn } from "../../../src/core/market.ts";
import { apply, decide } from "../../../src/core/rules/rules.ts";
import { createState, type ExchangeConfig, type State } from "../../../src/core/state.ts";
import type { BalancePolicy, Outcome, SettlementMode } from "../../../src/core/terms.ts";
import { type Millis, millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { addressOf, callCommand } from "../../support/commands.ts";
import { START } from "../../support/exchange.ts";
import { ofKind, type ValueOf } from "../../support/runs.ts";
import { ARENA, anyMove, commandOf, openArena } from "../properties/moves.ts";

const NAMES = ["ann", "ben", "cat", "dan", "eve"] as const;
const INPUT = "0x01";
const GWEI = 1_000_000_000;
const ETHER = 1_000_000_000_000_000_000n;

const fault = fc.constantFrom<SettlementFaultKind[]>("fail", "retry", "delay", "ghost", "gasSpike");
const who = fc.nat({ max: NAMES.length - 1 });

const call = ofKind(8, "call", {
  call: fc.constantFrom(
    ...(["send", "approve", "transfer", "transferFrom", "operator", "shares"] as const),
    ...(["split", "split", "merge", "redeem", "redeem"] as const),
  ),
  by: who,
  to: who,
  market: fc.nat({ max: 4 }),
  outcome: fc.constantFrom<Outcome[]>("YES", "NO"),
  /** In size units. */
  amount: fc.constantFrom(0, 1, 100, 500, 1000, 3000, 100_000),
  gwei: fc.constantFrom(2, 2, 2, 600),
  /** A number, the next one, or that of a pending call, which this one then replaces. */
  nonce: fc.constantFrom(null, null, null, 0, 1, 3, "pending" as const, "pending" as const),
});

const chainMove = fc.oneof(
  ofKind(4, "mine", { count: fc.constantFrom(1, 1, 1, 2, 5) }),
  ofKind(3, "fault", { fault, times: fc.constantFrom(1, 1, 2, 3), half: fc.boolean() }),
  { weight: 1, arbitrary: fc.constant({ kind: "calm" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "bump" as const }) },
  ofKind(2, "reorganize", { depth: fc.constantFrom(1, 1, 2, 3) }),
  call,
);

/** Any action, mostly orders, often on the chain. */
export const anyChainMove = fc.oneof({ weight: 5, arbitrary: anyMove }, { weight: 2, arbitrary: chainMove });

const steeringMove = fc.oneof(
  // Added to the wallet's nonce.
  ofKind(1, "nonce", { by: who, added: fc.constantFrom(-2, -1, -1, 1, 3) }),
  ofKind(1, "ether", { by: who, ether: fc.constantFrom(0, 1, 50_000) }),
  // The `which`-th latest transaction.
  ofKind(1, "drop", { which: fc.nat({ max: 3 }) }),
  ofKind(1, "mining", {
    mode: fc.constantFrom<SettlementMode[]>("instant", "auto", "manual"),
    seconds: fc.constantFrom(5, 30, 90),
  }),
  ofKind(1, "fee", { gwei: fc.constantFrom(1, 3, 500) }),
);

/** The same, and the commands with which a test controls the chain. */
export const anySteeredMove = fc.oneof(
  { weight: 12, arbitrary: anyChainMove },
  { weight: 1, arbitrary: steeringMove },
);

/** An action of a client or on the settlement chain, valid or not. */
export type ChainMove = ValueOf<typeof anySteeredMove>;
export type Moves = readonly ChainMove[];

/** Moves that return a wallet's call to the pool, which is rare by chance, also one whose nonce has been used again. */
const returnedCall: fc.Arbitrary<Moves> = fc
  .tuple(call.arbitrary, call.arbitrary, fc.boolean())
  .map(([first, second, isUsedAgain]) => {
    const own = { by: first.by, nonce: null } as const;
    const again = [
      { kind: "nonce", by: first.by, added: -1 },
      { ...second, ...own },
    ] as const;
    return [
      { ...first, ...own },
      { kind: "mine", count: 1 },
      ...(isUsedAgain ? again : []),
      { kind: "reorganize", depth: 1 },
    ];
  });

/** Moves that leave a wallet's call without gas money until no block is due. */
const unpaidCall: fc.Arbitrary<Moves> = call.arbitrary.map((sent) => [
  { ...sent, nonce: null },
  { kind: "ether", by: sent.by, ether: 0 },
  { kind: "wait", ms: 90_000 },
  { kind: "ether", by: sent.by, ether: 50_000 },
]);

/** Any history of trading and of the chain, including commands with which a test controls it. */
export const histories = (maxLength: number): fc.Arbitrary<Moves> =>
  fc
    .array(
      fc.oneof(
        { weight: 24, arbitrary: anySteeredMove.map((move): Moves => [move]) },
        { weight: 1, arbitrary: fc.oneof(returnedCall, returnedCall, unpaidCall) },
      ),
      { maxLength, size: "max" },
    )
    .map((moves) => moves.flat());

/** The same, or a history of trading only, in which more orders match. */
export const tradingOrAny = (maxLength: number): fc.Arbitrary<Moves> =>
  fc.oneof(fc.array(anyMove, { maxLength, size: "max" }), histories(maxLength));

/** Returns the configuration of the arena with other settlement rules. */
export const arenaWith = (settlement: SettlementMode, balances: BalancePolicy): ExchangeConfig => ({
  ...ARENA,
  settlement,
  balances,
});

/** Every combination of settlement rules. */
export const anySettlement: fc.Arbitrary<ExchangeConfig> = fc
  .tuple(
    fc.constantFrom<SettlementMode[]>("instant", "auto", "manual"),
    fc.constantFrom<BalancePolicy[]>("optimistic", "settled"),
  )
  .map(([settlement, balances]) => arenaWith(settlement, balances));

/** Opens an exchange with a market of every kind and four accounts with little funds. */
export const openWith = (config: ExchangeConfig): Exchange => openArena(new Exchange(config, START));

/** Runs moves, each wait in `steps` steps; returns a line per accepted command with its events. */
export function play(exchange: Exchange, moves: Moves, steps = 1): string[] {
  const happened: string[] = [];
  const unwatch = exchange.watch((...command) => void happened.push(JSON.stringify(command)));
  for (const move of moves) {
    const command = chainCommandOf(exchange.state, exchange.now, move);
    if (command !== null) exchange.submit(command);
    if (move.kind !== "wait") continue;
    const from = exchange.now;
    for (let step = 1; step <= steps; step += 1) {
      exchange.advanceTo(millis(from + Math.floor((move.ms * step) / steps)));
    }
  }
  unwatch();
  return happened;
}

/** Decides a journal again from the start; returns the state. @throws Error if a command is now refused. */
export function replayed(config: ExchangeConfig, journal: Iterable<Stamped>): State {
  const state = createState(config, START);
  for (const stamped of journal) {
    const decision = decide(state, stamped);
    if (!decision.ok) throw new Error(`accepted before, now ${decision.refusal.code}`);
    for (const event of decision.events) apply(state, event, stamped.at);
  }
  return state;
}

/** Returns the command of a move in a state; null for a wait. */
export function chainCommandOf(state: State, now: Millis, move: ChainMove): Command | null {
  switch (move.kind) {
    case "mine":
      return { kind: "mineBlocks", count: move.count };
    case "fault":
      return {
        kind: "setSettlementFault",
        fault: move.fault,
        probability: move.half ? CERTAIN / 2 : CERTAIN,
        times: move.fault === "gasSpike" ? null : move.times,
        blocks: move.fault === "delay" ? move.times : 0,
        baseFee: move.fault === "gasSpike" ? 500 * GWEI : 0,
        reason: null,
      };
    case "calm":
      return { kind: "endSettlementFault", number: null };
    case "bump":
      return { kind: "bumpFees" };
    case "reorganize":
      return { kind: "reorganizeChain", depth: move.depth };
    case "nonce": {
      const mined = state.chain.wallets.get(nameOf(move.by))?.mined ?? 0;
      return { kind: "setNonce", address: nameOf(move.by), nonce: Math.max(0, mined + move.added) };
    }
    case "ether":
      return {
        ...{ kind: "setNativeBalance", address: nameOf(move.by) },
        wei: String(BigInt(move.ether) * ETHER),
      };
    case "drop":
      return {
        kind: "dropTransaction",
        transaction: Math.max(1, state.chain.transactions.size - move.which),
      };
    case "mining":
      return { kind: "setMining", mode: move.mode, intervalMs: move.seconds * 1000 };
    case "fee":
      return { kind: "setNextBaseFee", baseFee: move.gwei * GWEI };
    case "call":
      return sendCommandOf(state, move);
    default:
      return commandOf(state, now, move);
  }
}

function sendCommandOf(state: State, move: ChainMove & { kind: "call" }): Command {
  const call = callOf(state, move);
  const isMoney = move.call === "send";
  const replaced = move.nonce === "pending" ? pendingCall(state) : undefined;
  return callCommand(replaced?.from ?? nameOf(move.by), call, {
    to: isMoney ? nameOf(move.to) : CONTRACTS.collateral,
    nonce: move.nonce === "pending" ? (replaced?.nonce ?? null) : move.nonce,
    value: isMoney ? String(INITIAL_NATIVE_BALANCE / 1000n) : "0",
    gas: callGas(call, INPUT) - (move.amount === 1 ? 1 : 0),
    maxFeePerGas: (replaced?.maxFeePerGas ?? 0) + move.gwei * GWEI,
    maxPriorityFeePerGas: (replaced?.maxPriorityFeePerGas ?? 0) + GWEI,
    input: INPUT,
  });
}

/** Returns a pending call, if possible one that a reorganization returned to the pool. */
function pendingCall({ chain }: State): CallContent | undefined {
  const calls = unminedOf(chain).filter(({ content }) => content?.kind === "call");
  return (calls.find(({ exception }) => exception?.effect) ?? calls[0])?.content as CallContent | undefined;
}

const nameOf = (by: number): string => addressOf(NAMES[by] as string);

function callOf(state: State, move: ChainMove & { kind: "call" }): ContractCall {
  const market = state.markets.find(move.market + 1) ?? state.markets.get(1);
  const units = String(move.amount * 10_000);
  const position = { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition: market.conditionId };
  switch (move.call) {
    case "send":
      return { kind: "send" };
    case "approve":
      return {
        kind: "approve",
        spender: CONTRACTS[move.by % 2 === 0 ? "exchange" : "conditionalTokens"],
        amount: units,
      };
    case "transfer":
      return { kind: "transfer", to: nameOf(move.to), amount: units };
    case "transferFrom":
      return { kind: "transferFrom", from: nameOf(move.to), to: nameOf(move.by), amount: units };
    case "operator":
      return { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: move.amount > 100 };
    case "shares": {
      const ids = [tokenIdIn(market, move.outcome), tokenIdIn(market, "YES")];
      const [from, to] = [nameOf(move.by), nameOf(move.to)];
      return { kind: "safeTransfer", from, to, ids, amounts: [units, "10000"], isBatch: true };
    }
    case "split":
    case "merge":
      return { kind: move.call, ...position, partition: ["1", "2"], amount: units };
    case "redeem":
      return { kind: "redeem", ...position, indexSets: ["1", "2"] };
  }
}
