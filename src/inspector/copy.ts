import { faultWords, settlementFaultId } from "../api/chain.ts";
import { marketControlEndpoints } from "../api/markets.ts";
import { placeOrderBody } from "../api/order-request.ts";
import { authHeaders, type Signable } from "../api/signing.ts";
import { numbersAs } from "../api/view.ts";
import { type Command, type CommandOf, isCausedByTime, type TimedCommand } from "../core/commands.ts";
import { shellWord } from "../core/format.ts";
import { idOf } from "../core/ids.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { Keyring } from "../engine/keyring.ts";
import type { ReplayedLine } from "../history/journal-replay.ts";
import { itemLines } from "../history/scenario-text.ts";
import { Vocabulary } from "../history/vocabulary.ts";
import type { Moment } from "./model.ts";

const numbers = numbersAs("number");

/**
 * Returns a command as a step of a scenario, a refused one with its error code, or a comment if no step can express it.
 * `named` returns the name of an account.
 */
export function stepText(
  { line, command, result }: ReplayedLine,
  state: State,
  named: (address: string) => string,
): string {
  const refused = isControl(line, "refused") ? line.d : null;
  const asked = refused?.asked?.kind === "command" ? refused.asked.command : command;
  if (asked === null) return "# not part of a scenario";
  if (asked.kind === "placeOrder" && !state.tokenById.has(asked.tokenId))
    return "# no step can express an unknown token";
  const markets = [...state.markets].map(({ number, slug: name }) => ({ number, name }));
  const vocabulary = new Vocabulary(markets, state, named, (number) => `order-${number}`);
  const events = result.kind === "accepted" ? result.events : [];
  const placed = events.find((event) => event.kind === "orderRested") ?? null;
  const step = vocabulary.step({ command: asked, placed, before: { orders: 0 } });
  if (step === null)
    return `# ${isCausedByTime(asked) ? "caused by time" : "belongs to the head of a scenario"}: ${asked.kind}`;
  if (typeof step === "string") return `# no step can express ${step}`;
  return itemLines(refused === null ? step : { ...step, rejects: refused.code }, 0).join("\n");
}

interface CopiedRequest {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  /** Address whose keys sign it. */
  readonly signer?: string;
}

/** Returns a line's request as a curl command, signed for the time of the cursor; null if the line has no request. */
export function curlText(replayed: ReplayedLine, at: Moment, base: string): string | null {
  const sent = requestOf(replayed, at.state);
  if (sent === null) return null;
  const { method, path, body, signer } = sent;
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = [
    ...(text === "" ? [] : ["content-type: application/json"]),
    ...(signer === undefined ? [] : signatureOf(at, signer, { method, target: path, body: text })),
  ];
  const parts = [
    `curl -X ${method} ${shellWord(base + path)}`,
    ...headers.map((header) => `-H ${shellWord(header)}`),
    ...(text === "" ? [] : [`-d ${shellWord(text)}`]),
  ];
  return parts.join(" \\\n  ");
}

function signatureOf({ exchange, state, now }: Moment, address: string, request: Signable): string[] {
  const account = state.accountByAddress.get(address);
  if (account === undefined || state.accounts.get(account).derivations === 0) return [];
  const credentials = { ...new Keyring(exchange, state.config.seed).latest(address), address };
  const headers = authHeaders(credentials, request, Math.floor(now / 1000));
  return headers.map(([name, value]) => `${name}: ${value}`);
}

function requestOf({ line, command }: ReplayedLine, state: State): CopiedRequest | null {
  if (!isControl(line, "refused")) return command === null ? null : commandRequest(command, state);
  const { method, path, address, asked } = line.d;
  const signer = address === null || !path.startsWith("/clob/") ? {} : { signer: address };
  if (asked?.kind === "command") return commandRequest(asked.command, state);
  return { method, path, ...signer, ...(asked === null ? {} : { body: asked.body }) };
}

/** Returns the request that submits a command; null if time causes it or it is sent over the chain. */
function commandRequest(command: Command, state: State): CopiedRequest | null {
  if ("market" in command) {
    const { kind, market, ...body } = command;
    const slug = state.markets.find(market)?.slug ?? String(market);
    const path = marketControlEndpoints[kind].path.replace("{idOrSlug}", slug);
    return post(path, Object.keys(body).length === 0 ? undefined : body);
  }
  if (isCausedByTime(command)) return null;
  return REQUESTS[command.kind]?.(command as never, state) ?? null;
}

type RequestOf<Kind extends Command["kind"]> = (command: CommandOf<Kind>, state: State) => CopiedRequest;
/** Commands that clients send, except those of one market. */
type SentKind = Exclude<Command, TimedCommand | { readonly market: number }>["kind"];

/** The request of each command; null if its parts are not all recorded, or it is sent over the chain. */
const REQUESTS: { readonly [Kind in SentKind]: RequestOf<Kind> | null } = {
  placeOrder: (command) => ({ ...post("/clob/order", placeOrderBody(command)), signer: command.address }),
  cancelOrder: ({ orderId, address }) => ({
    ...{ method: "DELETE", path: "/clob/order", body: { orderId }, signer: address },
  }),
  cancelAllOrders: ({ address }) => ({ method: "DELETE", path: "/clob/orders/all", signer: address }),
  deriveCredentials: ({ address }) => post(`/sim/accounts/${address}/credentials`),
  fundAccount: ({ address, collateral, tokens }) => {
    const sizes = tokens.map(({ tokenId, size }) => [tokenId, numbers.size(size)] as const);
    const shares = tokens.length === 0 ? {} : { tokens: Object.fromEntries(sizes) };
    return post(`/sim/accounts/${address}/fund`, { collateral: numbers.money(collateral), ...shares });
  },
  mineBlocks: ({ count }) => post("/sim/chain/mine", { blocks: count }),
  reorganizeChain: ({ depth }) => post("/sim/chain/faults", { kind: "reorg", depth }),
  bumpFees: () => post("/sim/chain/bump"),
  setSettlementFault: (fault, { idPrefixes }) => {
    const of = fault.order === undefined ? {} : { of: idOf(idPrefixes.order, fault.order) };
    return post("/sim/chain/faults", { ...faultWords(fault), ...of });
  },
  endSettlementFault: ({ number }) => ({
    method: "DELETE",
    path: `/sim/chain/faults${number === null ? "" : `/${settlementFaultId(number)}`}`,
  }),
  createEvent: null,
  createMarket: null,
  sendTransaction: null,
  setNativeBalance: null,
  setNonce: null,
  dropTransaction: null,
  setMining: null,
  setBlockTerms: null,
  setNextBaseFee: null,
};

const post = (path: string, body?: object): CopiedRequest => ({
  method: "POST",
  path,
  ...(body && { body }),
});
