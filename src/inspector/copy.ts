import { faultWords, settlementFaultId } from "../api/chain.ts";
import { marketControlEndpoints } from "../api/markets.ts";
import { placeOrderBody } from "../api/order-request.ts";
import { authHeaders, type Signable } from "../api/signing.ts";
import { numbersAs } from "../api/view.ts";
import { type Command, isCausedByTime } from "../core/commands.ts";
import { shellWord } from "../core/format.ts";
import { idOf } from "../core/ids.ts";
import type { State } from "../core/state.ts";
import { unreachable } from "../core/terms.ts";
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

interface SentRequest {
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

function requestOf({ line, command }: ReplayedLine, state: State): SentRequest | null {
  if (!isControl(line, "refused")) return command === null ? null : commandRequest(command, state);
  const { method, path, address, asked } = line.d;
  const signer = address === null || !path.startsWith("/clob/") ? {} : { signer: address };
  if (asked?.kind === "command") return commandRequest(asked.command, state);
  return { method, path, ...signer, ...(asked === null ? {} : { body: asked.body }) };
}

/** Returns the request that submits a command; null if time causes it or it is sent over the chain. */
function commandRequest(command: Command, state: State): SentRequest | null {
  if ("market" in command) {
    const { kind, market, ...body } = command;
    const slug = state.markets.find(market)?.slug ?? String(market);
    const path = marketControlEndpoints[kind].path.replace("{idOrSlug}", slug);
    return { method: "POST", path, ...(Object.keys(body).length > 0 && { body }) };
  }
  if (isCausedByTime(command)) return null;
  switch (command.kind) {
    case "placeOrder":
      return { method: "POST", path: "/clob/order", body: placeOrderBody(command), signer: command.address };
    case "cancelOrder": {
      const { orderId, address } = command;
      return { method: "DELETE", path: "/clob/order", body: { orderId }, signer: address };
    }
    case "cancelAllOrders":
      return { method: "DELETE", path: "/clob/orders/all", signer: command.address };
    case "deriveCredentials":
      return { method: "POST", path: `/sim/accounts/${command.address}/credentials` };
    case "fundAccount": {
      const tokens = Object.fromEntries(
        command.tokens.map(({ tokenId, size }) => [tokenId, numbers.size(size)]),
      );
      const body = {
        collateral: numbers.money(command.collateral),
        ...(command.tokens.length === 0 ? {} : { tokens }),
      };
      return { method: "POST", path: `/sim/accounts/${command.address}/fund`, body };
    }
    case "mineBlocks":
      return { method: "POST", path: "/sim/chain/mine", body: { blocks: command.count } };
    case "reorganizeChain":
      return { method: "POST", path: "/sim/chain/faults", body: { kind: "reorg", depth: command.depth } };
    case "bumpFees":
      return { method: "POST", path: "/sim/chain/bump" };
    case "setSettlementFault": {
      const { order } = command;
      const of = order === undefined ? {} : { of: idOf(state.idPrefixes.order, order) };
      return { method: "POST", path: "/sim/chain/faults", body: { ...faultWords(command), ...of } };
    }
    case "endSettlementFault": {
      const one = command.number === null ? "" : `/${settlementFaultId(command.number)}`;
      return { method: "DELETE", path: `/sim/chain/faults${one}` };
    }
    case "createEvent":
    case "createMarket":
    case "sendTransaction":
    case "setNativeBalance":
    case "setNonce":
    case "dropTransaction":
    case "setMining":
    case "setBlockTerms":
    case "setNextBaseFee":
      return null;
    default:
      throw unreachable(command);
  }
}
