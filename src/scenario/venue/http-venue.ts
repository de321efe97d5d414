import { type PositionChange, positionTransaction } from "../../api/contracts.ts";
import { endpointOf, filledPath, type Operation, type ReplyTo } from "../../api/endpoints.ts";
import { ExchangeClient } from "../../client/client.ts";
import { type RawRequest, targetOf } from "../../client/connection.ts";
import { readReply } from "../../client/result.ts";
import {
  changeHeaders,
  type Header,
  type HeaderChanges,
  openTransport,
  type Transport,
} from "../../client/transport.ts";
import { parseIso, toIso } from "../../core/time.ts";
import { FULL_PRICE, type Millis, SHARE_UNITS } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { DirectCall } from "../../server/handlers/all.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { World } from "../../simulation/world.ts";
import type { MarketTerms } from "../language/declarations.ts";
import { type Tamper, within } from "../language/request-step.ts";
import type { RequestStep, Scenario } from "../language/steps.ts";
import { byOperations, playFlow, remoteFlowCheck } from "./play-flow.ts";
import { SCENARIO_EVENT, signerOf, Venue, type Wallets } from "./venue.ts";
import {
  type Attempt,
  type Checks,
  DONE,
  type Expired,
  type Fill,
  type FlowOutcome,
  fillOf,
  type RawReply,
  type Soon,
  VenueError,
  type VenueHistory,
} from "./views.ts";

const BRACES = /\{(token|market|order|address) ([^{}]{1,80})\}/g;

/** Returns the request of a step. */
function rawRequestOf(step: RequestStep, text: (of: string) => string): RawRequest {
  const headers = Object.entries(step.headers).map(([name, value]) => [
    name,
    value === null ? null : typeof value === "string" ? text(value) : value.map(text),
  ]);
  const changes = Object.fromEntries(headers) as HeaderChanges;
  const { tamper } = step;
  return {
    method: step.method,
    path: text(step.path),
    ...(step.body === undefined ? {} : { body: within(step.body, text) }),
    signed: step.as !== null,
    ...(tamper !== null && tamper.sign !== null && { signedPath: text(tamper.sign) }),
    headers: (made) => tampered(changeHeaders(made, changes), tamper),
  };
}

/** Applies `tamper` to headers. */
function tampered(headers: readonly Header[], tamper: Tamper | null): readonly Header[] {
  if (tamper === null) return headers;
  const { append, twice, spell } = tamper;
  const isIn = (names: readonly string[], name: string): boolean =>
    names.some((each) => each.toLowerCase() === name.toLowerCase());
  return headers.flatMap(([name, value]) => {
    const spelled = spell.find((each) => isIn([each], name)) ?? name;
    const header = [spelled, value + (append[name.toLowerCase()] ?? "")] as const;
    return isIn(twice, name) ? [header, header] : [header];
  });
}

/** Returns the error code of a reply, or `HTTP 500` for an error without a code; null if it is not an error. */
export function codeOf(status: number, body: unknown): string | null {
  if (status >= 200 && status < 300) return null;
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" ? code : `HTTP ${status}`;
}

const TIMEOUT_MS = 30_000;

/** State of the venue, restored together with the server's snapshot. */
interface HttpSnapshot {
  readonly id: string;
  readonly now: Millis;
  readonly fills: number;
  readonly clients: ReadonlyMap<string, ExchangeClient>;
}

/** An exchange over HTTP, with signatures and a control plane, as `clobsim serve` provides. */
export class HttpVenue extends Venue {
  readonly way: "http" | "target" = "http";
  protected readonly url: string;
  protected readonly transport: Transport;
  /** Sends unsigned requests. */
  protected readonly client: ExchangeClient;
  protected clients = new Map<string, ExchangeClient>();
  readonly #close: () => Soon<void>;
  readonly #wallets: Wallets;
  readonly #owners = new Map<string, string>();
  /** Fills of this scenario's orders, from the replies to them. */
  readonly #fills: Fill[] = [];
  #now: Millis;

  /** `watch` may wrap the transport to observe requests and replies; `closed` closes what belongs to the venue. */
  constructor(
    url: string,
    now: Millis,
    wallets: Wallets,
    watch: (transport: Transport) => Transport = (same) => same,
    closed: () => Soon<void> = () => {},
  ) {
    super();
    const { send, close } = openTransport(new URL(url), TIMEOUT_MS);
    this.url = url;
    this.transport = watch(send);
    this.client = new ExchangeClient(url, { transport: this.transport });
    this.#close = () => {
      close();
      return closed();
    };
    this.#wallets = wallets;
    this.#now = now;
  }

  /** Opens the scenario's markets; closes the venue if that fails. */
  async opened(scenario: Scenario): Promise<this> {
    try {
      await this.openMarkets(scenario);
      return this;
    } catch (error) {
      await this.dispose();
      throw error;
    }
  }

  /** Creates the scenario's markets, or finds those of its world, sorted by id, which is the order of creation. */
  protected async openMarkets({ markets, world }: Scenario): Promise<void> {
    const found: ReplyTo<"listMarkets">["data"][number][] = [];
    for (let isMore = world !== null; isMore; ) {
      const query = { limit: 100, offset: found.length };
      const { data, hasMore } = await this.ask("listMarkets", { query });
      found.push(...data);
      isMore = hasMore;
    }
    for (const market of found.sort((a, b) => (a.id < b.id ? -1 : 1)))
      this.knownMarkets.set(market.slug, market);
    if (markets.length === 0) return;
    const { title, slug, description, category } = SCENARIO_EVENT;
    const event = await this.ask("createEvent", { body: { title, slug, description, category, tags: [] } });
    for (const terms of markets) {
      const market = await this.ask("createMarket", { body: { eventId: event.id, ...marketBody(terms) } });
      this.knownMarkets.set(terms.name, market);
    }
  }

  get accounts(): readonly string[] {
    return [...this.clients.keys()];
  }

  now(): Millis | Promise<Millis> {
    return this.#now;
  }

  async call<O extends Operation>(operation: O, call: DirectCall = {}): Promise<Attempt<ReplyTo<O>>> {
    const endpoint = endpointOf(operation);
    const { path: parameters = {}, query = {}, body, caller } = call;
    const path = targetOf(filledPath(endpoint, parameters), query);
    const client = caller === undefined ? this.client : await this.clientOf(caller);
    const request = { method: endpoint.method, path, body, signed: endpoint.access === "signed" };
    const sent = await client.send(request);
    if (!sent.ok) return { ...sent.error, ok: false };
    const reply = readReply<ReplyTo<O>>(sent.value);
    if (reply.ok) return reply;
    const { code, message, hint } = reply.error;
    return { ok: false, code: codeOf(sent.value.status, sent.value.body) ?? code, message, hint };
  }

  async advanceTo(moment: Millis): Promise<readonly Expired[]> {
    const { fired } = await this.ask("setClock", { body: { time: toIso(moment) } });
    this.#now = moment;
    return fired.flatMap((event) =>
      event.kind === "ORDER_EXPIRED" ? [{ key: event.orderId, at: parseIso(event.at) ?? moment }] : [],
    );
  }

  async transact(account: string, market: string, change: PositionChange): Promise<Attempt<null>> {
    const { conditionId } = this.marketNamed(market);
    const terms = positionTransaction(await this.signIn(account), conditionId, change);
    const call = { from: terms.from, to: terms.to, data: terms.input };
    const trial = await this.#askNode("eth_estimateGas", [call]);
    if (!trial.ok) return trial;
    const impersonated = await this.#askNode("anvil_impersonateAccount", [terms.from]);
    if (!impersonated.ok) return impersonated;
    const sent = await this.#askNode("eth_sendTransaction", [
      {
        ...call,
        gas: quantity(terms.gas),
        maxFeePerGas: quantity(terms.maxFeePerGas),
        maxPriorityFeePerGas: quantity(terms.maxPriorityFeePerGas),
      },
    ]);
    return sent.ok ? DONE : sent;
  }

  async play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    checks: Checks | null = null,
  ): Promise<FlowOutcome> {
    const check = checks === null ? null : remoteFlowCheck(() => this.violations());
    return playFlow(byOperations(this, market, await this.now()), rows, check);
  }

  async snapshot(): Promise<HttpSnapshot> {
    const { id } = await this.ask("takeSnapshot", {});
    return { id, now: this.#now, fills: this.#fills.length, clients: new Map(this.clients) };
  }

  async restore(snapshot: unknown): Promise<void> {
    const { id, now, fills, clients } = snapshot as HttpSnapshot;
    await this.ask("restoreSnapshot", { path: { idOrName: id } });
    this.#now = now;
    this.#fills.length = fills;
    this.clients = new Map(clients);
  }

  override async forget(snapshot: unknown): Promise<void> {
    await this.ask("forgetSnapshot", { path: { idOrName: (snapshot as HttpSnapshot).id } });
  }

  override async request(
    step: RequestStep,
    orderNamed: (name: string) => string | undefined,
  ): Promise<RawReply> {
    const ids = {
      token: (words: string) => {
        const [outcome = "", market = null] = words.split(/\s+/).reverse();
        return this.tokenId({ market, outcome });
      },
      market: (name: string) => this.marketNamed(name).id,
      order: (name: string) => orderNamed(name) ?? name,
      address: (name: string) => this.addressOf(name),
    };
    const text = (of: string): string =>
      of.replace(BRACES, (_, kind: keyof typeof ids, words: string) => ids[kind](words.trim()));
    const client = step.as === null ? this.client : await this.clientOf(step.as);
    const sent = await client.send(rawRequestOf(step, text));
    const wanted = within(step.answers?.value, text);
    if (!sent.ok) return { status: 0, body: { error: sent.error.message }, code: sent.error.code, wanted };
    const { status, body } = sent.value;
    return { status, body: body ?? sent.value.text, code: codeOf(status, body), wanted };
  }

  fillCount(): number {
    return this.#fills.length;
  }

  fills(from: number): readonly Fill[] {
    return this.#fills.slice(from);
  }

  async violations(): Promise<readonly string[]> {
    const { invariants } = await this.ask("getInvariants");
    const broken = invariants.filter(({ holds }) => !holds);
    return broken.map(({ name, differences }) => `${name}: ${differences.join("; ")}`);
  }

  /** Returns null if the deployment has no control plane. */
  async history(reason: string): Promise<VenueHistory | null> {
    const report = await this.client.control.report(reason);
    return report.ok ? { kind: "report", text: report.value } : null;
  }

  override async dispose(): Promise<void> {
    await this.#close();
  }

  protected addressOf(account: string): string {
    return this.#wallets.of(account).address;
  }

  protected override async signIn(account: string): Promise<string> {
    await this.clientOf(account);
    return this.addressOf(account);
  }

  /** Returns the client of an account; derives its credentials on first use. */
  protected async clientOf(account: string): Promise<ExchangeClient> {
    const known = this.clients.get(account);
    if (known !== undefined) return known;
    const client = await this.newClient(account);
    const derived = client.credentials === null ? await client.derive() : null;
    if (derived?.ok === false) {
      const { code, message } = derived.error;
      throw new VenueError(`${account} cannot derive credentials: ${code}: ${message}`);
    }
    this.clients.set(account, client);
    return client;
  }

  protected async newClient(account: string): Promise<ExchangeClient> {
    return new ExchangeClient(this.url, {
      account: await signerOf(this.#wallets.of(account)),
      transport: this.transport,
      time: () => this.#now / 1000,
    });
  }

  protected override async accepted(account: string, { id, trades }: ReplyTo<"placeOrder">): Promise<void> {
    this.#owners.set(id, account);
    for (const trade of trades) {
      const maker = await this.ownerOf(trade.counterOrderId);
      this.#fills.push(fillOf(trade, this.marketName(trade.marketId), account, maker));
    }
  }

  /** Returns the account that placed an order. */
  protected async ownerOf(id: string): Promise<string> {
    return this.#owners.get(id) ?? this.strangerOf(id);
  }

  /** Returns a name made from the address of an unknown account that placed an order. */
  protected async strangerOf(id: string): Promise<string> {
    return this.strangerName((await this.ask("explainOrder", { path: { id } })).owner);
  }

  /**
   * Calls a method of the settlement chain's node. An RPC error refuses the transaction.
   * @throws VenueError if the answer is not JSON-RPC.
   */
  async #askNode(method: string, params: readonly unknown[]): Promise<Attempt<unknown>> {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const sent = await this.client.send({ method: "POST", path: "/chain", body });
    if (!sent.ok) throw new VenueError(`${method}: ${sent.error.message}`);
    const { result, error } = (sent.value.body ?? {}) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
    if (error !== undefined) {
      const code = error.code === REVERTED ? "TRANSACTION_REVERTED" : "TRANSACTION_REFUSED";
      return { ok: false, code, message: error.message, hint: null };
    }
    if (result === undefined) throw new VenueError(`${method}: the server answers ${sent.value.text}`);
    return { ok: true, value: result };
  }
}

/** Error code for a call that would revert: EIP-1474 defines none, geth uses 3. */
const REVERTED = 3;

const quantity = (value: number): string => `0x${value.toString(16)}`;

/** A server started for one scenario. */
export interface ScenarioServer {
  /** Its origin. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server with a world, a frozen clock and no faucet, on a free port; `opened` receives its exchange. */
export type StartServer = (
  world: World,
  scenario: Scenario,
  opened?: (exchange: Exchange) => void,
) => Promise<ScenarioServer>;

/** Returns the request body that creates a market of a scenario, in USDC and shares, without its event. */
export const marketBody = ({ name, tickSize, minOrderSize, ...terms }: MarketTerms) => ({
  question: name,
  slug: name,
  description: "",
  category: SCENARIO_EVENT.category,
  tags: [],
  tickSize: tickSize / FULL_PRICE,
  minOrderSize: minOrderSize / SHARE_UNITS,
  ...terms,
});
