import { ExchangeClient } from "../../client/client.ts";
import type { PlacedOrder } from "../../client/messages.ts";
import type { Transport } from "../../client/transport.ts";
import type { WinningOutcome } from "../../core/terms.ts";
import { parseIso, toIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { ExactOrder, Funding, OrderWords, RequestStep, StepOf } from "../language/scenario.ts";
import type { Judging } from "../watch/flow-judge.ts";
import { askFor, canceledOf, DONE, demand, nothingOf } from "./attempts.ts";
import { HttpChain } from "./http-chain.ts";
import { playOverHttp } from "./http-flow.ts";
import { codeOf, rawRequestOf, standingFor, within } from "./http-request.ts";
import { HttpSights } from "./http-sights.ts";
import { fillOf, orderView } from "./http-views.ts";
import { totalOf } from "./opening.ts";
import { orderBodyOf } from "./order-body.ts";
import type {
  Attempt,
  Canceled,
  Expired,
  FlowOutcome,
  OrderKey,
  OrderView,
  RawReply,
  Venue,
  VenueDeeds,
} from "./venue.ts";
import { VenueError } from "./venue.ts";
import { signerOf, strangerName, type Wallets } from "./wallets.ts";

/** What restoring goes back to, beside the server's own snapshot. */
interface Kept {
  readonly id: string;
  readonly now: Millis;
  readonly fills: number;
  readonly clients: ReadonlyMap<string, ExchangeClient>;
}

/** An exchange over HTTP, with signatures and a control plane: what `clobsim serve` answers. */
export class HttpVenue extends HttpSights implements Venue {
  readonly way: "http" | "target" = "http";
  readonly chain = new HttpChain(this.control, this.map, async (account) => {
    await this.clientOf(account);
    return this.addressOf(account);
  });
  protected clients = new Map<string, ExchangeClient>();
  readonly #wallets: Wallets;
  readonly #owners = new Map<OrderKey, string>();
  #now: Millis;

  /** `watch` may look at every request and reply on the way. */
  constructor(url: string, now: Millis, wallets: Wallets, watch?: (transport: Transport) => Transport) {
    super(url, watch);
    this.#wallets = wallets;
    this.#now = now;
  }

  get accounts(): readonly string[] {
    return [...this.clients.keys()];
  }

  now(): Millis | Promise<Millis> {
    return this.#now;
  }

  /** The client of an account, with credentials derived at its first use. */
  async clientOf(account: string): Promise<ExchangeClient> {
    const known = this.clients.get(account);
    if (known !== undefined) return known;
    const client = await this.signIn(account);
    this.clients.set(account, client);
    return client;
  }

  async open(account: string, funding: readonly Funding[]): Promise<Attempt<null>> {
    await this.clientOf(account);
    return funding.length === 0 ? DONE : this.#fund(account, funding);
  }

  async place(account: string, words: OrderWords, _exact: ExactOrder | null): Promise<Attempt<OrderView>> {
    const body = orderBodyOf(words, this.map.tokenId(words), await this.now());
    const request = { method: "POST", path: "/clob/order", body, signed: true } as const;
    const attempt = await askFor<PlacedOrder>(await this.clientOf(account), request);
    if (!attempt.ok) return attempt;
    const { trades, ...order } = attempt.value;
    this.#owners.set(order.id, account);
    for (const trade of trades) {
      this.seenFills.push(fillOf(trade, account, await this.ownerOf(trade.counterOrderId), this.map));
    }
    return { ok: true, value: this.placed(orderView(order)) };
  }

  async cancel(account: string, order: OrderKey): Promise<Attempt<Canceled>> {
    const client = await this.clientOf(account);
    return canceledOf(await client.cancel(String(order)));
  }

  async cancelAll(account: string): Promise<Attempt<Canceled>> {
    return canceledOf(await (await this.clientOf(account)).cancelAll());
  }

  async fund(account: string, funding: Funding): Promise<Attempt<null>> {
    await this.clientOf(account);
    return this.#fund(account, [funding]);
  }

  async advanceTo(moment: Millis): Promise<readonly Expired[]> {
    const { fired } = demand(await this.control.control.setClock({ time: toIso(moment) }));
    this.#now = moment;
    return fired.flatMap((event) =>
      event.kind === "ORDER_EXPIRED" ? [{ key: event.orderId, at: parseIso(event.at) ?? moment }] : [],
    );
  }

  async close(market: string): Promise<Attempt<null>> {
    return nothingOf(await this.control.control.close(this.map.named(market).id));
  }

  async resolve(market: string, outcome: WinningOutcome): Promise<Attempt<null>> {
    return nothingOf(await this.control.control.resolve(this.map.named(market).id, outcome));
  }

  play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    judging: Judging | null = null,
  ): Promise<FlowOutcome> {
    return playOverHttp(this, rows, market, judging);
  }

  async snapshot(): Promise<Kept> {
    const { id } = demand(await this.control.control.snapshot());
    return { id, now: this.#now, fills: this.seenFills.length, clients: new Map(this.clients) };
  }

  async restore(snapshot: unknown): Promise<void> {
    const { id, now, fills, clients } = snapshot as Kept;
    demand(await this.control.control.restore(id));
    this.#now = now;
    this.seenFills.length = fills;
    this.clients = new Map(clients);
  }

  async forget(snapshot: unknown): Promise<void> {
    demand(await this.control.control.deleteSnapshot((snapshot as Kept).id));
  }

  async fault({ fault }: StepOf<"fault">): Promise<Attempt<null>> {
    return nothingOf(await this.control.control.addFault(fault));
  }

  async request(step: RequestStep, orderNamed: (name: string) => OrderKey | undefined): Promise<RawReply> {
    const text = standingFor({
      token: (words) => this.map.tokenId(words),
      market: (name) => this.map.named(name).id,
      order: (name) => String(orderNamed(name) ?? name),
      address: (name) => this.addressOf(name),
    });
    const client = step.as === null ? this.control : await this.clientOf(step.as);
    const sent = await client.send(rawRequestOf(step, text));
    const wanted = within(step.answers?.value, text);
    if (!sent.ok) return { status: 0, body: { error: sent.error.message }, code: sent.error.code, wanted };
    const { status, body } = sent.value;
    return { status, body: body ?? sent.value.text, code: codeOf(status, body), wanted };
  }

  /** A deployment may have no control plane. */
  async deeds(reason: string): Promise<VenueDeeds | null> {
    const report = await this.control.control.report(reason);
    return report.ok ? { kind: "report", text: report.value } : null;
  }

  addressOf(account: string): string {
    return this.#wallets.of(account).address;
  }

  /** A client with credentials of its own. @throws VenueError when they cannot be derived. */
  protected async signIn(account: string): Promise<ExchangeClient> {
    const client = new ExchangeClient(this.url, {
      account: await signerOf(this.#wallets.of(account)),
      transport: this.transport,
      time: () => this.#now / 1000,
    });
    const derived = await client.derive();
    if (!derived.ok)
      throw new VenueError(
        `${account} cannot derive credentials: ${derived.error.code}: ${derived.error.message}`,
      );
    return client;
  }

  /** Told of each order that was accepted. */
  protected placed(order: OrderView): OrderView {
    return order;
  }

  /** Who placed an order; of a stranger's, a name made from the address. */
  protected async ownerOf(orderId: string): Promise<string> {
    const known = this.#owners.get(orderId);
    if (known !== undefined) return known;
    return strangerName(demand(await this.control.control.order(orderId)).owner);
  }

  async #fund(account: string, fundings: readonly Funding[]): Promise<Attempt<null>> {
    const { collateral, shares } = totalOf(fundings, (name) => this.map.tokenId(name));
    const tokens = Object.fromEntries(shares.map(([id, amount]) => [id, amount / 100]));
    const funding = { collateral: collateral / 1_000_000, tokens };
    return nothingOf(await this.control.control.fund(this.addressOf(account), funding));
  }
}
