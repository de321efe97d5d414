import type { ReplyTo } from "../../api/endpoints.ts";
import { ExchangeClient, walletOf } from "../../client/client.ts";
import { type Millis, millis, type Size, size } from "../../core/units.ts";
import { controlNeedOf, type Scenario } from "../language/scenario.ts";
import { HttpVenue } from "./http-venue.ts";
import {
  checkTarget,
  fileNeedOf,
  misfitOf,
  readTargetFile,
  type TargetAccount,
  type TargetFile,
} from "./target-file.ts";
import type { Venue } from "./venue.ts";
import {
  type Attempt,
  type Canceled,
  DONE,
  marketRef,
  type OrderView,
  orderView,
  sizeOf,
  VenueError,
} from "./views.ts";
import type { Wallets } from "./wallets.ts";

/**
 * Returns a function that opens scenarios on the deployment at an origin, or says why one cannot be run there.
 * @throws TargetFileError if the wallets file is invalid or names an unknown market, or the deployment does not answer.
 */
export async function openTargets(
  url: string,
  walletsFile: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<(scenario: Scenario, wallets: Wallets) => Promise<Venue | string>> {
  const file = readTargetFile(walletsFile, environment);
  await checkTarget(url, `--wallets ${walletsFile}`, file);
  return async (scenario, wallets) => {
    const need = controlNeedOf(scenario) ?? fileNeedOf(scenario, file);
    if (need !== null) return need;
    const venue = new TargetVenue(url, file, wallets);
    let isOpen = false;
    try {
      const misfit = await venue.openMarkets(scenario);
      isOpen = misfit === null;
      return misfit ?? venue;
    } finally {
      if (!isOpen) await venue.dispose();
    }
  };
}

/** A deployment of the API, used without its control plane. */
class TargetVenue extends HttpVenue {
  override readonly way = "target";
  readonly #file: TargetFile;
  /** The latest known state of each order, because finished orders cannot be read. */
  readonly #seen = new Map<string, { readonly view: OrderView; readonly account: string }>();

  constructor(url: string, file: TargetFile, wallets: Wallets) {
    super(url, millis(0), wallets);
    this.#file = file;
  }

  /** Empty, because balances cannot be read. */
  override get accounts(): readonly string[] {
    return [];
  }

  /** Cancels the orders that still rest, so that the next scenario finds the same book. */
  override async dispose(): Promise<void> {
    for (const [order, { view, account }] of this.#seen) {
      if (view.status === "LIVE") await super.cancel(account, order);
    }
    await super.dispose();
  }

  /** Finds the scenario's markets; returns why one is unsuitable, or null. @throws VenueError if the deployment does not answer. */
  async openMarkets({ markets }: Scenario): Promise<string | null> {
    for (const terms of markets) {
      const idOrSlug = this.#file.markets.get(terms.name) as string;
      const market = await this.ask("getMarket", { path: { idOrSlug } });
      const misfit = misfitOf(terms, market);
      if (misfit !== null) return `needs market ${terms.name} with ${misfit}`;
      this.map.add(marketRef(terms.name, market));
    }
    return null;
  }

  override async now(): Promise<Millis> {
    return millis((await this.ask("getTime")).time * 1000);
  }

  /** Does not fund the account, because the wallets file declares its funds. */
  override async open(account: string): Promise<Attempt<null>> {
    await this.signIn(account);
    return DONE;
  }

  override async cancel(account: string, order: string): Promise<Attempt<Canceled>> {
    return this.#canceled(await super.cancel(account, order));
  }

  override async cancelAll(account: string): Promise<Attempt<Canceled>> {
    return this.#canceled(await super.cancelAll(account));
  }

  /** Computes the order from its latest known state and its fills. */
  override async order(id: string): Promise<OrderView> {
    const seen = this.#seen.get(id);
    if (seen === undefined) throw new VenueError(`order ${id} was not placed here`);
    if (seen.view.status !== "LIVE") return seen.view;
    const matched = await this.#matched(id);
    const status = matched >= seen.view.size ? "MATCHED" : "LIVE";
    return { ...seen.view, matched, status };
  }

  override async explain(): Promise<readonly string[]> {
    return [];
  }

  override async stateHash(): Promise<null> {
    return null;
  }

  override async violations(): Promise<readonly string[]> {
    return [];
  }

  protected override addressOf(account: string): string {
    return this.clients.get(account)?.credentials?.address ?? "";
  }

  protected override async newClient(account: string): Promise<ExchangeClient> {
    const { privateKey, credentials } = this.#file.accounts.get(account) as TargetAccount;
    const wallet = await walletOf(privateKey);
    return new ExchangeClient(this.url, {
      account: wallet,
      time: "server",
      transport: this.transport,
      ...(credentials === null ? {} : { credentials: { ...credentials, address: wallet.address } }),
    });
  }

  protected override async accepted(account: string, order: ReplyTo<"placeOrder">): Promise<void> {
    this.#seen.set(order.id, { view: orderView(order), account });
    await super.accepted(account, order);
  }

  protected override async ownerOf(id: string): Promise<string> {
    return this.#seen.get(id)?.account ?? "somebody";
  }

  protected override async tradesOf(order: string) {
    const trades: ReplyTo<"listTrades">["data"][number][] = [];
    const caller = await this.ownerOf(order);
    for (;;) {
      const query = { order, limit: 500, offset: trades.length };
      const { data, hasMore } = await this.ask("listTrades", { query, caller });
      trades.push(...data);
      if (!hasMore) return trades;
    }
  }

  /** Records the final state of canceled orders, which can no longer be read. */
  async #canceled(attempt: Attempt<Canceled>): Promise<Attempt<Canceled>> {
    for (const id of attempt.ok ? attempt.value.canceled : []) {
      const seen = this.#seen.get(id);
      if (seen === undefined) continue;
      const matched = await this.#matched(id);
      this.#seen.set(id, { ...seen, view: { ...seen.view, matched, status: "CANCELED", reason: "USER" } });
    }
    return attempt;
  }

  async #matched(order: string): Promise<Size> {
    const trades = await this.tradesOf(order);
    return size(trades.reduce((matched, trade) => matched + sizeOf(trade.size), 0));
  }
}
