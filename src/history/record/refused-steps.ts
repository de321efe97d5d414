import { type CommandOf, orderWords } from "../../core/commands.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { RefusedRequest, Scalar } from "../../core/refusals.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import { orderBodyOf, wordsOfBody } from "../../scenario/language/parts.ts";
import { scalar } from "../scenario-text.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { Script } from "./script.ts";

/** So many are written: a flood of them must not make a file too long. */
const MAX_TOLD = 1_000;
/** What can stand for a word of an order line, whatever it means. */
const WORD = /^(?!(?:in|as)$)[\w.+:-]{1,40}$/;
/** What an order line cannot begin with: other steps do. */
const VERBS: ReadonlySet<string> = new Set(["cancel", "fund", "split", "merge", "redeem"]);
/** The name of an order that a scenario does not have. */
const NO_ORDER = "nothing";

/** A step, and what it was refused with in the scenario's own exchange. */
interface Asked {
  readonly line: string;
  readonly code: string | null;
}

/**
 * Writes refused requests as steps that say `rejects`: orders and cancels of known accounts, where the scenario's own
 * exchange refuses them with the same code. Of others it says in a remark that they were refused. Nothing is changed.
 */
export class RefusedSteps {
  readonly #script: Script;
  readonly #words: Vocabulary;
  readonly #end: State;
  #count = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#words = script.told.words;
    this.#end = script.told.session.end;
  }

  add({ at, request }: RefusedEntry): void {
    this.#count += 1;
    if (this.#count === MAX_TOLD + 1) this.#script.remark("Further refused requests are left out.");
    if (this.#count > MAX_TOLD) return;
    const { code, method, path } = request;
    // What expires by then decides it.
    if (code === "EXPIRATION_IN_PAST") this.#script.passTo(at);
    const account = accountIn(request, this.#end);
    const name = account === null ? null : this.#words.account(account);
    const asked = name === null ? null : this.#asked(name, request);
    if (name !== null && asked?.code === code) {
      this.#script.say([name, scalar(asked.line)], ["rejects", scalar(code)]);
      return;
    }
    const what = asked === null ? `${method} ${path.replace(/[^!-~]/g, "?")}` : asked.line;
    const who = name === null ? "" : ` of ${name}`;
    this.#script.remark(`Refused with ${code}, which no step can say: ${what}${who}.`);
  }

  #asked(name: string, request: RefusedRequest): Asked | null {
    const { method, path, asked } = request;
    const isOfOrders = path === "/clob/order" && asked !== null;
    if (!isOfOrders) return null;
    if (asked.kind === "command") {
      if (asked.command.kind === "placeOrder") return this.#order(name, bodyOf(asked.command));
      return asked.command.kind === "cancelOrder" ? this.#cancel(name, [asked.command.orderId]) : null;
    }
    if (asked.isCut) return null;
    if (method === "POST") return this.#order(name, asked.body);
    return this.#cancel(name, [...Object.values(asked.body), ...Object.values(asked.query)]);
  }

  #order(name: string, body: Readonly<Record<string, Scalar>>): Asked | null {
    const token = tokenIn(this.#end, body.tokenId);
    if (token === null) return null;
    const market = marketOfToken(token);
    const words = wordsOfBody(body, outcomeOf(token), this.#words.marketIfSeveral(market));
    const { side, size, price, type, expiry } = words;
    const ending = expiry === null ? [] : [expiry.text];
    const parts = [side, size, price, type, ...ending];
    if (!parts.every((part) => WORD.test(part)) || VERBS.has(side)) return null;
    const made: Readonly<Record<string, unknown>> = {
      ...orderBodyOf(words, "", this.#script.now),
      tokenId: body.tokenId,
    };
    if (!Object.entries(body).every(([field, value]) => (made[field] ?? "") === value)) return null;
    const expiration = expiry === null ? null : type === "GTC" ? `GTC ${expiry.text}` : expiry.text;
    const texts = { ...words, orderType: type, expiration };
    const line = orderWords(texts, words.outcome + this.#words.inMarket(market));
    return { line, code: this.#script.refusalOfOrder(name, words) };
  }

  #cancel(name: string, given: readonly Scalar[]): Asked | null {
    const [id, ...others] = new Set(given);
    if (typeof id !== "string" || id === "" || others.length > 0) return null;
    const order = numberOf(this.#end.idPrefixes.order, id);
    const named = this.#script.told.names.get(order);
    const code = this.#script.refusalOfCancel(name, named === undefined ? null : order);
    return { line: `cancel ${named ?? NO_ORDER}`, code };
  }
}

/** The accounts whose requests were refused, and the markets that these speak of, by number. */
export function askedOf(refused: readonly RefusedEntry[], state: State) {
  const requests = refused.map(({ request }) => request);
  const accounts = requests.map((request) => accountIn(request, state)).filter((each) => each !== null);
  const markets = requests.map((request) => marketIn(request, state)).filter((each) => each !== null);
  return { accounts, markets };
}

/** The account of a sender that a signature has proven; null where it has none. */
const accountIn = ({ address, isProven }: RefusedRequest, state: State): number | null =>
  (isProven && address !== null ? state.accountByAddress.get(address) : undefined) ?? null;

/** The market of which a refused order of a known account speaks; null where it speaks of none. */
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

/** The body that a client sends for a command. */
const bodyOf = ({ kind: _, address: __, price, size, expiration, ...rest }: CommandOf<"placeOrder">) => ({
  ...rest,
  price: Number(priceText(price)),
  size: Number(sizeText(size)),
  ...(expiration === null ? {} : { expiration: toIso(expiration) }),
});
