import {
  BLOCK_TERMS,
  DEFAULT_BASE_FEE,
  FAULT_TERMS,
  faultText,
  INITIAL_NATIVE_BALANCE,
  Mining,
} from "./chain/chain.ts";
import { CONTRACTS, numberWord, UNLIMITED } from "./chain/contracts.ts";
import { CALL_TERMS, type ContractCall, callGas } from "./chain/transaction.ts";
import { DocumentError } from "./document-error.ts";
import { addressText, counted, orderText, priceText, sizeText, usdcText } from "./format.ts";
import { EVENT_TERMS, MARKET_TERMS } from "./market.ts";
import { ORDER_TERMS, requireExpiration } from "./order.ts";
import {
  address,
  decimal,
  fieldsOf,
  type Infer,
  id,
  integer,
  list,
  moment,
  oneOf,
  orNull,
  record,
  refined,
  type Type,
  text,
} from "./schema.ts";
import type { State } from "./state.ts";
import { marketText, orderIdText, tokenIdText } from "./state.ts";
import { type Address, WINNING_OUTCOMES } from "./terms.ts";
import { toIso } from "./time.ts";
import type { Millis, Money, Size } from "./units.ts";

type Describe<Data> = (command: Data, state: State) => string;

interface Row<Data> {
  readonly data: Type<Data>;
  readonly describe: Describe<Data>;
}

const command = <Data>(data: Type<Data>, describe: Describe<Data>): Row<Data> => ({ data, describe });

/** Limit of the API, the chain and scenarios, so that no command takes too long. */
export const MAX_BLOCKS = 100_000;
const blocks = (low: number): Type<number> => integer(low, MAX_BLOCKS);

/** Formatted values of an order; `expiration` begins with its preposition, such as `until`. */
interface OrderTexts {
  readonly side: string;
  readonly size: string;
  readonly price: string;
  readonly orderType?: string;
  readonly expiration?: string | null;
}

/** Formats an order as `BUY 100 YES @ 0.55 FOK in rain`; `token` is `YES in rain`. */
export function orderWords(
  { side, size, price, orderType = "GTC", expiration = null }: OrderTexts,
  token: string,
): string {
  const [outcome = "", ...place] = token.split(" ");
  const type = orderType === "GTC" ? [] : [orderType];
  const end = expiration === null ? [] : [expiration];
  return [side, size, outcome, "@", price, ...type, ...end, ...place].join(" ");
}

/** Commands that time alone causes: the schedule makes them, not a client. */
const TIMED_COMMANDS = {
  expireOrder: command(record({ order: id() }), ({ order }) => `${orderText(order)} is due to expire`),
  produceBlock: command(record({}), () => "a block is due"),
  executeTransaction: command(
    record({ transaction: id() }),
    ({ transaction }) => `transaction ${transaction} is due`,
  ),
  sealBlock: command(record({}), () => "the block is complete"),
};

/** Every command by kind. The schemas check form only; `decide` refuses. Numbers of records are named `market`, `order`. */
const COMMANDS = {
  createEvent: command(record(EVENT_TERMS), ({ title }) => `create event ${JSON.stringify(title)}`),
  createMarket: command(
    record(MARKET_TERMS),
    ({ slug, tickSize, feeRateBps }) =>
      `create market ${slug}, tick ${priceText(tickSize)}, fee ${feeRateBps} bps`,
  ),
  closeMarket: command(record({ market: id() }), ({ market }, state) => `close ${marketText(state, market)}`),
  resolveMarket: command(
    record({ market: id(), winningOutcome: oneOf(...WINNING_OUTCOMES) }),
    ({ market, winningOutcome }, state) => `resolve ${marketText(state, market)} as ${winningOutcome}`,
  ),
  fundAccount: command(
    record({
      address: address(),
      collateral: integer<Money>(),
      /** Shares of single outcomes; the faucet gets the other half of each full set. */
      tokens: list(record({ tokenId: text(), size: integer<Size>() })),
      /** Shares of both outcomes of every market, present and future, minted when the account first touches the market. */
      everyMarket: integer<Size>(),
    }),
    ({ collateral, tokens, everyMarket }, state) => {
      const parts = [
        ...(collateral === 0 ? [] : [usdcText(collateral)]),
        ...tokens.map(({ tokenId, size }) => `${sizeText(size)} ${tokenIdText(state, tokenId)}`),
        ...(everyMarket === 0 ? [] : [`${sizeText(everyMarket)} of both outcomes of every market`]),
      ];
      return `fund ${parts.join(", ") || "nothing"}`;
    },
  ),
  deriveCredentials: command(record({ address: address() }), () => "derive credentials"),

  placeOrder: command(
    refined(
      record({ address: address(), tokenId: text(), ...ORDER_TERMS, expiration: orNull(moment()) }),
      requireExpiration,
    ),
    (order, state) => {
      const { size, price, expiration } = order;
      const until = expiration === null ? null : `until ${toIso(expiration)}`;
      const texts = { ...order, size: sizeText(size), price: priceText(price), expiration: until };
      return orderWords(texts, tokenIdText(state, order.tokenId));
    },
  ),
  cancelOrder: command(
    record({ address: address(), orderId: text() }),
    ({ orderId }, state) => `cancel ${orderIdText(state, orderId)}`,
  ),
  cancelAllOrders: command(record({ address: address() }), () => "cancel all"),

  /** A wallet's transaction for the settlement chain; null means the next nonce. */
  sendTransaction: command(
    record({ from: address(), to: address(), nonce: orNull(integer()), ...CALL_TERMS }),
    ({ call, to }) => `send ${call.kind} to ${addressText(to)}`,
  ),
  /** Mines blocks at once; the first takes all pending transactions. */
  mineBlocks: command(record({ count: blocks(1) }), ({ count }) => `mine ${counted(count, "block")}`),
  reorganizeChain: command(
    record({ depth: blocks(1) }),
    ({ depth }) => `reorganize ${counted(depth, "block")}`,
  ),
  setSettlementFault: command(
    record({ ...FAULT_TERMS, blocks: blocks(0) }),
    (terms) =>
      `set settlement fault ${faultText(terms)}${terms.times === null ? "" : `, ${counted(terms.times, "time")}`}`,
  ),
  endSettlementFault: command(record({ number: orNull(id()) }), ({ number }) =>
    number === null ? "end all settlement faults" : `end settlement fault ${number}`,
  ),
  /** Raises the fees of the exchange's own pending transactions, so that a high base fee does not exclude them. */
  bumpFees: command(record({}), () => "raise the fees of pending transactions"),
  setNativeBalance: command(
    record({ address: address(), wei: decimal() }),
    ({ wei }) => `set the native balance to ${wei} wei`,
  ),

  setNonce: command(
    record({ address: address(), nonce: integer() }),
    ({ nonce }) => `set the nonce to ${nonce}`,
  ),
  dropTransaction: command(
    record({ transaction: id() }),
    ({ transaction }) => `drop transaction ${transaction}`,
  ),
  /** Sets when blocks are mined from now on, overriding the configuration. */
  setMining: command(Mining, ({ mode, intervalMs }) => {
    if (mode === "auto") return `mine every ${intervalMs} ms`;
    return mode === "instant" ? "mine at once" : "mine when asked to";
  }),
  /** Sets header fields from the next block on; null leaves a field unchanged. */
  setBlockTerms: command(record(BLOCK_TERMS), ({ miner, gasLimit }) => {
    const parts = [
      ...(miner === null ? [] : [`miner ${addressText(miner)}`]),
      ...(gasLimit === null ? [] : [`gas limit ${gasLimit}`]),
    ];
    return `set ${parts.join(" and ") || "nothing"} of blocks`;
  }),
  setNextBaseFee: command(
    record({ baseFee: integer() }),
    ({ baseFee }) => `set the next base fee to ${baseFee} wei`,
  ),

  ...TIMED_COMMANDS,
};

export type CommandKind = keyof typeof COMMANDS;

export type CommandOf<Kind extends CommandKind> = { readonly kind: Kind } & Infer<
  (typeof COMMANDS)[Kind]["data"]
>;

export type OrderTerms = Omit<CommandOf<"placeOrder">, "kind" | "address" | "tokenId">;

export type Command = { [Kind in CommandKind]: CommandOf<Kind> }[CommandKind];
export type TimedCommand = {
  [Kind in keyof typeof TIMED_COMMANDS]: CommandOf<Kind>;
}[keyof typeof TIMED_COMMANDS];

/** Whether time alone caused a command. */
export const isCausedByTime = (command: Command): command is TimedCommand =>
  Object.hasOwn(TIMED_COMMANDS, command.kind);

/** Returns the account that gives a command; null if none does. */
export function actorOf(command: Command): Address | null {
  if ("address" in command) return command.address;
  return command.kind === "sendTransaction" ? command.from : null;
}

export const commandText = (command: Command, state: State): string =>
  (COMMANDS[command.kind].describe as Describe<Command>)(command, state);

export const isCommandKind = (kind: unknown): kind is CommandKind =>
  typeof kind === "string" && Object.hasOwn(COMMANDS, kind);

/** Returns the schema of a command without its kind. */
export const commandData = (kind: CommandKind): Type<object> => COMMANDS[kind].data as Type<object>;

/** Parses an object with a `kind`. @throws DocumentError if it is not a command. */
export function parseCommand(value: unknown): Command {
  const { kind, ...data } = fieldsOf(value);
  if (!isCommandKind(kind)) throw new DocumentError("the kind of a command", kind, "kind");
  return { kind, ...commandData(kind).parse(data) } as Command;
}

export interface Stamped<C extends Command = Command> {
  readonly at: Millis;
  readonly command: C;
}

const EXCHANGE_WORD = numberWord(BigInt(CONTRACTS.exchange));

/** Returns the commands by which a funded trader approves the exchange, if approvals are required. */
export function approvalsOf({ address, collateral }: CommandOf<"fundAccount">): Command[] {
  const wei = String(INITIAL_NATIVE_BALANCE);
  const sending = (to: Address, call: ContractCall, input: string): Command => ({
    ...{ kind: "sendTransaction", from: address, to, nonce: null, value: "0", gas: callGas(call, input) },
    ...{ maxFeePerGas: DEFAULT_BASE_FEE, maxPriorityFeePerGas: 0, input, call, raw: null, hash: null },
  });
  return [
    ...(collateral > 0 ? [] : [{ kind: "setNativeBalance", address, wei } as const]),
    sending(
      CONTRACTS.collateral,
      { kind: "approve", spender: CONTRACTS.exchange, amount: String(UNLIMITED) },
      `0x095ea7b3${EXCHANGE_WORD}${numberWord(UNLIMITED)}`,
    ),
    sending(
      CONTRACTS.conditionalTokens,
      { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: true },
      `0xa22cb465${EXCHANGE_WORD}${numberWord(1)}`,
    ),
  ];
}
