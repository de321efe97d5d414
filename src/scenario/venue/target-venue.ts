import { ExchangeClient } from "../../client/client.ts";
import type { Trade } from "../../client/messages.ts";
import { walletOf } from "../../client/wallet.ts";
import { type Millis, millis, type Size, size } from "../../core/units.ts";
import type { Scenario } from "../language/scenario.ts";
import { controlNeedOf } from "../run/needs.ts";
import { demand } from "./attempts.ts";
import { HttpVenue } from "./http-venue.ts";
import { sizeOf } from "./http-views.ts";
import { readTargetFile, type TargetAccount, type TargetFile } from "./target-file.ts";
import { checkMarkets, fileNeedOf, misfitOf } from "./target-fit.ts";
import type { Attempt, Canceled, OrderKey, OrderView, Venue } from "./venue.ts";
import { VenueError } from "./venue.ts";
import type { Wallets } from "./wallets.ts";

/**
 * Opens scenarios on the deployment at an origin, or says why one cannot be run there.
 * @throws TargetFileError when the wallets file is wrong, or names a market that the deployment does not have.
 */
export async function openTargets(
  url: string,
  walletsFile: string | null,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<(scenario: Scenario, wallets: Wallets) => Promise<Venue | string>> {
  const file = walletsFile === null ? null : readTargetFile(walletsFile, environment);
  if (file !== null) await checkMarkets(url, `--wallets ${walletsFile}`, file);
  return async (scenario, wallets) => {
    const need = controlNeedOf(scenario) ?? fileNeedOf(scenario, file);
    if (need !== null || file === null) return need ?? "needs --wallets";
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

/** A deployment of the API without its control plane: only what clients can do and see. */
class TargetVenue extends HttpVenue {
  override readonly way = "target";
  readonly #file: TargetFile;
  /** Orders as they were last seen whole, for finished ones cannot be asked for. */
  readonly #seen = new Map<OrderKey, { readonly view: OrderView; readonly account: string }>();
  #acting = "";

  constructor(url: string, file: TargetFile, wallets: Wallets) {
    super(url, millis(0), wallets);
    this.#file = file;
  }

  /** Nobody's balance can be asked for. */
  override get accounts(): readonly string[] {
    return [];
  }

  /** Cancels what the scenario left resting, so that the next one meets the book that this one met. */
  override async dispose(): Promise<void> {
    for (const [key, { view, account }] of this.#seen) {
      if (view.status === "LIVE") await (await this.clientOf(account)).cancel(String(key));
    }
    await super.dispose();
  }

  /** Finds the scenario's markets; answers why one does not do. @throws VenueError when the deployment does not answer. */
  async openMarkets({ markets }: Scenario): Promise<string | null> {
    for (const terms of markets) {
      const market = demand(await this.control.market(this.#file.markets.get(terms.name) as string));
      const misfit = misfitOf(terms, market);
      if (misfit !== null) return `needs market ${terms.name} with ${misfit}`;
      this.map.add(terms.name, market);
    }
    return null;
  }

  override async now(): Promise<Millis> {
    return millis(demand(await this.control.serverTime()).time * 1000);
  }

  /** What it starts with is there already. */
  override async open(account: string): Promise<Attempt<null>> {
    await this.clientOf(account);
    return { ok: true, value: null };
  }

  override async place(...[account, words, exact]: Parameters<HttpVenue["place"]>) {
    this.#acting = account;
    return super.place(account, words, exact);
  }

  override async cancel(account: string, order: OrderKey): Promise<Attempt<Canceled>> {
    const attempt = await super.cancel(account, order);
    if (attempt.ok) await this.#canceled(attempt.value);
    return attempt;
  }

  override async cancelAll(account: string): Promise<Attempt<Canceled>> {
    const attempt = await super.cancelAll(account);
    if (attempt.ok) await this.#canceled(attempt.value);
    return attempt;
  }

  /** Put together from open orders and fills. */
  override async order(key: OrderKey): Promise<OrderView> {
    const seen = this.#seen.get(key);
    if (seen === undefined) throw new VenueError(`order ${key} was not placed here`);
    if (seen.view.status !== "LIVE") return seen.view;
    const matched = await this.#matched(seen.account, key);
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

  override addressOf(account: string): string {
    return this.clients.get(account)?.credentials?.address ?? "";
  }

  protected override async signIn(account: string): Promise<ExchangeClient> {
    const { privateKey, credentials } = this.#file.accounts.get(account) as TargetAccount;
    const wallet = await walletOf(privateKey);
    const client = new ExchangeClient(this.url, {
      account: wallet,
      time: "server",
      transport: this.transport,
      ...(credentials === null ? {} : { credentials: { ...credentials, address: wallet.address } }),
    });
    if (credentials === null) {
      const derived = await client.derive();
      if (!derived.ok)
        throw new VenueError(
          `${account} cannot derive credentials: ${derived.error.code}: ${derived.error.message}`,
        );
    }
    return client;
  }

  protected override placed(view: OrderView): OrderView {
    this.#seen.set(view.key, { view, account: this.#acting });
    return view;
  }

  protected override async tradesOf(order: OrderKey): Promise<readonly Trade[]> {
    return this.#trades(await this.ownerOf(String(order)), order);
  }

  protected override async ownerOf(orderId: string): Promise<string> {
    return this.#seen.get(orderId)?.account ?? "somebody";
  }

  async #canceled({ canceled }: Canceled): Promise<void> {
    for (const key of canceled) {
      const seen = this.#seen.get(key);
      if (seen === undefined) continue;
      const matched = await this.#matched(seen.account, key);
      this.#seen.set(key, { ...seen, view: { ...seen.view, matched, status: "CANCELED", reason: "USER" } });
    }
  }

  async #matched(account: string, key: OrderKey): Promise<Size> {
    const trades = await this.#trades(account, key);
    return size(trades.reduce((matched, trade) => matched + sizeOf(trade.size), 0));
  }

  async #trades(account: string, key: OrderKey): Promise<readonly Trade[]> {
    const client = await this.clientOf(account);
    const trades: Trade[] = [];
    for (;;) {
      const filter = { order: String(key), limit: 500, offset: trades.length };
      const { data, hasMore } = demand(await client.trades(filter));
      trades.push(...data);
      if (!hasMore) return trades;
    }
  }
}
