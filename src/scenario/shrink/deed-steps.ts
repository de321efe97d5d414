import type { Command, PlaceOrder } from "../../core/commands.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Address } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import { faultStep, sayableTerms } from "../record/fault-step.ts";
import { positionText } from "../record/position-change.ts";
import type { Step } from "../record/script.ts";
import { moment } from "../record/vocabulary.ts";
import type { Deed } from "./deeds.ts";

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

/** What accounts and orders of a history are called; null leaves it to whoever writes them. */
export interface DeedNames {
  account(address: Address): string | null;
  /** The name of an order that is spoken of again, by its number in the history. */
  order(number: number): string | null;
  /** Whether something but a cancel speaks of an order. */
  isNamed(number: number): boolean;
}

const UNNAMED: DeedNames = { account: () => null, order: () => null, isNamed: () => false };

/** Writes deeds as steps, in whose order accounts and orders get their names. */
export class DeedSteps {
  readonly steps: Step[] = [];
  /** What no step can say. */
  readonly unsaid = new Set<string>();
  readonly #markets: ReadonlyMap<number, string>;
  readonly #names = new Map<Address, string>();
  readonly #canceled: ReadonlySet<number>;
  readonly #orders = new Map<number, string>();
  readonly #given: DeedNames;
  #now: Millis;

  /** `markets` are the names of markets by their numbers in the history. */
  constructor(
    deeds: readonly Deed[],
    markets: ReadonlyMap<number, string>,
    start: Millis,
    given: DeedNames = UNNAMED,
  ) {
    this.#markets = markets;
    this.#given = given;
    this.#canceled = new Set(deeds.map(({ means }) => means.order).filter((order) => order > 0));
    this.#now = start;
  }

  /** The accounts that are spoken of, in the order of their first time. */
  get accounts(): readonly (readonly [Address, string])[] {
    return [...this.#names];
  }

  fund(at: Millis, address: Address, token: number, amount: number): void {
    this.#passTime(at);
    const what =
      token === 0
        ? `${moneyText(amount)} USDC`
        : `${sizeText(amount)} ${outcomeOf(token)}${this.#inMarket(marketOfToken(token))}`;
    this.steps.push([[this.account(address), `fund ${what}`]]);
  }

  add({ at, command, made, means }: Deed): void {
    const steps = command === null ? [] : this.#stepsOf(command, made.order, means);
    if (command === null || steps.length > 0) this.#passTime(at);
    this.steps.push(...steps);
  }

  #passTime(at: Millis): void {
    if (at > this.#now) this.steps.push([["at", moment(at)]]);
    this.#now = at;
  }

  #stepsOf(command: Command, order: number, means: Deed["means"]): readonly Step[] {
    switch (command.kind) {
      case "placeOrder":
        return [[[this.account(command.address), this.#orderText(command, order, means.tokens[0] ?? 0)]]];
      case "cancelOrder":
        return [[[this.account(command.address), `cancel ${this.#orders.get(means.order) ?? "nothing"}`]]];
      case "cancelAllOrders":
        return [[[this.account(command.address), "cancel all"]]];
      case "deriveCredentials":
      case "fundAccount":
        this.account(command.address);
        return [];
      case "closeMarket":
        return [[["close", this.#markets.get(command.market) ?? ""]]];
      case "resolveMarket":
        return [[["resolve", `${command.winningOutcome}${this.#inMarket(command.market)}`]]];
      case "createEvent":
      case "createMarket":
        return [];
      default:
        return this.#chainSteps(command, means);
    }
  }

  #chainSteps(command: Command, { position }: Deed["means"]): readonly Step[] {
    switch (command.kind) {
      case "sendTransaction": {
        if (position === null) return this.#cannotSay(`a wallet's own transaction (${command.call.kind})`);
        const { change, market } = position;
        return [[[this.account(command.from), positionText(change) + this.#inMarket(market)]]];
      }
      case "mineBlocks":
        return [[["mine", String(command.count)]]];
      case "reorganizeChain":
        return [[["reorg", String(command.depth)]]];
      case "setSettlementFault":
        return [faultStep(sayableTerms(command))];
      case "endSettlementFault":
        return command.number === null
          ? [[["chain fault", "none"]]]
          : this.#cannotSay("the end of one fault of several");
      case "bumpFees":
        return [[["bump", "fees"]]];
      default:
        return this.#cannotSay(command.kind);
    }
  }

  #orderText({ side, size, price, orderType, expiration }: PlaceOrder, order: number, token: number): string {
    const type = orderType === "GTC" ? "" : ` ${orderType}`;
    const until = expiration === null ? "" : ` ${moment(expiration)}`;
    const isNamed = this.#canceled.has(order) || this.#given.isNamed(order);
    const name = isNamed ? (this.#given.order(order) ?? `order-${this.#orders.size + 1}`) : null;
    if (name !== null) this.#orders.set(order, name);
    const named = name === null ? "" : ` as ${name}`;
    const where = this.#inMarket(marketOfToken(token));
    return `${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)}${type}${until}${where}${named}`;
  }

  #cannotSay(what: string): readonly Step[] {
    this.unsaid.add(what);
    return [];
  }

  #inMarket(market: number): string {
    return this.#markets.size === 1 ? "" : ` in ${this.#markets.get(market)}`;
  }

  /** What an account is called, which is one of the scenario from now on. */
  account(address: Address): string {
    const count = this.#names.size;
    const name =
      this.#names.get(address) ?? this.#given.account(address) ?? NAMES[count] ?? `wallet-${count + 1}`;
    this.#names.set(address, name);
    return name;
  }
}
