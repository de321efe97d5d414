import { type CommandOf, orderWords } from "../../core/commands.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import { expiryOf, mayExpire } from "../../scenario/language/order-line.ts";
import { orderBodyOf, wordsOfBody } from "../../scenario/language/parts.ts";
import { scalar } from "../scenario-text.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { Script } from "./script.ts";

/** Maximum number of refused requests written, so that they cannot make a file too long. */
const MAX_WRITTEN = 1_000;
/** A word that can be in an order line, valid or not. */
const WORD = /^(?!(?:in|as)$)[\w.+:-]{1,40}$/;
/** First words of other steps, with which an order line cannot begin. */
const VERBS: ReadonlySet<string> = new Set(["cancel", "fund", "split", "merge", "redeem"]);
/** The name of an order that does not exist. */
const NO_ORDER = "nothing";

/** A step, and the code with which the scenario's exchange refuses it; null if it does not. */
interface RefusedStep {
  readonly line: string;
  readonly code: string | null;
}

/**
 * Writes refused requests as steps with `rejects`: orders and cancels of known accounts that the scenario's exchange
 * refuses with the same code. The others become remarks. The exchange does not change.
 */
export class RefusedSteps {
  readonly #script: Script;
  readonly #words: Vocabulary;
  readonly #end: State;
  #count = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#words = script.described.words;
    this.#end = script.described.session.end;
  }

  add({ at, request }: RefusedEntry): void {
    this.#count += 1;
    if (this.#count === MAX_WRITTEN + 1) this.#script.addRemark("Further refused requests are left out.");
    if (this.#count > MAX_WRITTEN) return;
    const { code, method, path } = request;
    // The refusal depends on the time.
    if (code === "EXPIRATION_IN_PAST") this.#script.advanceTo(at);
    const account = accountIn(request, this.#end);
    const name = account === null ? null : this.#words.account(account);
    const step = name === null ? null : this.#step(name, request);
    if (name !== null && step?.code === code) {
      this.#script.addStep([name, scalar(step.line)], ["rejects", scalar(code)]);
      return;
    }
    const what = step === null ? `${method} ${path.replace(/[^!-~]/g, "?")}` : step.line;
    const who = name === null ? "" : ` of ${name}`;
    this.#script.addRemark(`Refused with ${code}, which no step can express: ${what}${who}.`);
  }

  #step(name: string, request: RefusedRequest): RefusedStep | null {
    const { method, path, asked } = request;
    if (path !== "/clob/order" || asked === null) return null;
    if (asked.kind === "command") {
      if (asked.command.kind === "placeOrder") return this.#order(name, bodyOf(asked.command));
      return asked.command.kind === "cancelOrder" ? this.#cancel(name, [asked.command.orderId]) : null;
    }
    if (asked.isCut) return null;
    if (method === "POST") return this.#order(name, asked.body);
    return this.#cancel(name, [...Object.values(asked.body), ...Object.values(asked.query)]);
  }

  #order(name: string, body: Readonly<Record<string, Scalar>>): RefusedStep | null {
    const token = tokenIn(this.#end, body.tokenId);
    if (token === null) return null;
    const market = marketOfToken(token);
    const words = wordsOfBody(body, outcomeOf(token), this.#words.marketIfSeveral(market));
    const { side, size, price, type, expiry } = words;
    const parts = [side, size, price, type, ...(expiry === null ? [] : [expiry.text])];
    if (!parts.every((part) => WORD.test(part)) || VERBS.has(side)) return null;
    if (expiry !== null && !mayExpire(type, expiry.text)) return null;
    const written: Readonly<Record<string, unknown>> = {
      ...orderBodyOf(words, "", this.#script.now),
      tokenId: body.tokenId,
    };
    if (!Object.entries(body).every(([field, value]) => (written[field] ?? "") === value)) return null;
    const expiration = expiry === null ? null : type === "GTC" ? `GTC ${expiry.text}` : expiry.text;
    const texts = { ...words, orderType: type, expiration };
    const line = orderWords(texts, words.outcome + this.#words.inMarket(market));
    const read = { ...words, expiry: expiry === null ? null : expiryOf(expiry.text) };
    return { line, code: this.#script.refusalOfOrder(name, read) };
  }

  #cancel(name: string, given: readonly Scalar[]): RefusedStep | null {
    const [id, ...others] = new Set(given);
    if (typeof id !== "string" || id === "" || others.length > 0) return null;
    const order = numberOf(this.#end.idPrefixes.order, id);
    const orderName = this.#script.described.names.get(order);
    const code = this.#script.refusalOfCancel(name, orderName === undefined ? null : order);
    return { line: `cancel ${orderName ?? NO_ORDER}`, code };
  }
}

/** Returns the senders of refused requests and the markets of their orders, by number. */
export function partiesOfRefused(refused: readonly RefusedEntry[], state: State) {
  return {
    accounts: refused.flatMap(({ request }) => accountIn(request, state) ?? []),
    markets: refused.flatMap(({ request }) => marketIn(request, state) ?? []),
  };
}

/** Returns the account of a sender proven by a signature; null if there is none. */
const accountIn = ({ address, isProven }: RefusedRequest, state: State): number | null =>
  (isProven && address !== null ? state.accountByAddress.get(address) : undefined) ?? null;

/** Returns the market of a refused order of a known account; null if there is none. */
function marketIn(request: RefusedRequest, state: State): number | null {
  const { asked } = request;
  if (asked === null || accountIn(request, state) === null) return null;
  const id =
    asked.kind === "request" ? asked.body.tokenId : "tokenId" in asked.command ? asked.command.tokenId : null;
  const token = tokenIn(state, id);
  return token === null ? null : marketOfToken(token);
}

const tokenIn = (state: State, id: Scalar | undefined): number | null =>
  (typeof id === "string" ? state.tokenById.get(id) : undefined) ?? null;

/** Returns the body of the request for a command. */
const bodyOf = ({ kind: _, address: __, price, size, expiration, ...rest }: CommandOf<"placeOrder">) => ({
  ...rest,
  price: Number(priceText(price)),
  size: Number(sizeText(size)),
  ...(expiration === null ? {} : { expiration: toIso(expiration) }),
});
