import type { Address } from "../../core/terms.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Scenario } from "../language/scenario.ts";
import { checkAll } from "../run/expectations.ts";
import { failureMessage } from "../run/run-scenario.ts";
import { RunStopped, ScenarioFailure, Session } from "../run/session.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import { type Wallet, Wallets } from "../venue/wallets.ts";
import { type BrokenDeeds, DEEDS_AT_ONCE, type HistoryTrial } from "./deed-trial.ts";
import type { Deed } from "./deeds.ts";
import { type HistoryExpectation, ordersIn } from "./history-expectation.ts";
import { type HistoryNames, orderNumber } from "./history-names.ts";
import { Retelling } from "./retelling.ts";
import { type Signature, signatureOf } from "./signature.ts";

/** Tells deeds to fresh exchanges until an expectation does not hold at their end. */
export class ExpectationTrial implements HistoryTrial {
  readonly #open: () => Exchange;
  readonly #expected: HistoryExpectation;
  readonly #stop: () => boolean;

  constructor(open: () => Exchange, expected: HistoryExpectation, stop: () => boolean) {
    this.#open = open;
    this.#expected = expected;
    this.#stop = stop;
  }

  /** How the expectation fails; null where it holds. */
  first(deeds: readonly Deed[]): Promise<BrokenDeeds | null> {
    return this.#told(deeds);
  }

  /** The same where it fails in the same way. */
  async broken(deeds: readonly Deed[], { key }: Signature): Promise<BrokenDeeds | null> {
    const broken = await this.#told(deeds).catch((error: unknown) => {
      if (error instanceof RunStopped) throw error;
      // Some deeds make no sense without others, or speak of what is not there.
      return null;
    });
    return broken?.signature.key === key ? broken : null;
  }

  async #told(deeds: readonly Deed[]): Promise<BrokenDeeds | null> {
    const { names, expectations } = this.#expected;
    const exchange = this.#open();
    const venue = new HistoryVenue(exchange, names);
    const retelling = new Retelling(exchange);
    const done: Deed[] = [];
    let fillsBefore = 0;
    for (const [index, deed] of deeds.entries()) {
      if (index % DEEDS_AT_ONCE === 0 && this.#stop()) throw new RunStopped();
      if (retelling.tell(deed) === "done") done.push(deed);
      if (deed.sequence <= names.sequenceBefore) fillsBefore = venue.fillCount();
    }
    const session = new Session(NO_SCENARIO, venue, {
      isUpdating: false,
      judging: null,
      stop: this.#stop,
      refused: undefined,
    });
    // Of a world's own trades, no recorded session tells.
    session.fillsRead = fillsBefore;
    for (const name of ordersIn(expectations)) {
      const key = retelling.orderOf(orderNumber(name) ?? 0);
      // Whatever the expectation says without it, no scenario could name it.
      if (key === undefined) throw new Error(`order ${name} was never placed`);
      session.placed(key, name, venue.nameOf(exchange.state.orders.get(key).account));
    }
    try {
      await checkAll(session, expectations);
      return null;
    } catch (error) {
      if (!(error instanceof ScenarioFailure)) throw error;
      return { signature: signatureOf({ ...failureMessage(error.mismatches), text: "expect" }), deeds: done };
    }
  }
}

/** An exchange of which a history was told, under the names of its accounts. */
class HistoryVenue extends LocalVenue {
  override readonly markets: readonly string[];

  constructor(exchange: Exchange, { accounts, markets }: HistoryNames) {
    super(NO_SCENARIO, null, new KnownWallets(accounts), null, exchange);
    this.markets = markets;
    for (const [name, address] of accounts) this.names.set(address, name);
  }
}

/** Wallets whose addresses are those of a history's accounts. */
class KnownWallets extends Wallets {
  readonly #addresses: ReadonlyMap<string, Address>;

  constructor(addresses: ReadonlyMap<string, Address>) {
    super();
    this.#addresses = addresses;
  }

  override of(name: string): Wallet {
    const address = this.#addresses.get(name) as Wallet["address"] | undefined;
    const wallet = super.of(name);
    return address === undefined ? wallet : { ...wallet, address };
  }
}

/** What a venue that nobody opens for a scenario is opened for. */
const NO_SCENARIO: Scenario = {
  name: "history",
  place: { file: "history", line: 1, column: 1 },
  seed: "history",
  clock: 0 as Scenario["clock"],
  settlement: "instant",
  balances: "optimistic",
  world: null,
  markets: [],
  accounts: [],
  steps: [],
};
