import { type PositionChange, positionTransaction } from "../../api/contracts.ts";
import { endpointOf, filledPath, type Operation, type ReplyTo } from "../../api/endpoints.ts";
import { isObject } from "../../api/errors.ts";
import { type ClientOptions, ExchangeClient, type WalletAccount, walletOf } from "../../client/client.ts";
import { type RawRequest, targetOf } from "../../client/connection.ts";
import { readReply } from "../../client/result.ts";
import {
  changeHeaders,
  type Header,
  type HeaderChanges,
  openTransport,
  REPLY_TIMEOUT_MS,
  type Transport,
} from "../../client/transport.ts";
import { toIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import type { DirectCall } from "../../server/router.ts";
import type { Service } from "../../server/service.ts";
import type { World } from "../../simulation/world.ts";
import { type Tamper, within } from "../language/request-step.ts";
import type { RequestStep, Scenario } from "../language/steps.ts";
import { createMarkets, ExchangeVenue } from "./exchange-venue.ts";
import { byOperations, type ExecuteRow } from "./play-flow.ts";
import type { Wallet, Wallets } from "./venue.ts";
import { type Attempt, DONE, type RequestReply, VenueError, type VenueHistory } from "./views.ts";

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
export function errorCodeOf(status: number, body: unknown): string | null {
  if (status >= 200 && status < 300) return null;
  return isObject(body) && typeof body.code === "string" ? body.code : `HTTP ${status}`;
}

/** Returns a signing account that caches signatures, because signing takes longer than a request. */
export async function signerOf({ privateKey, signatures }: Wallet): Promise<WalletAccount> {
  const account = await walletOf(privateKey);
  return {
    address: account.address,
    signMessage: (text) => account.signMessage(text),
    signTypedData: (data) => {
      const { timestamp, nonce } = data.message;
      const key = `${timestamp} ${nonce} ${data.domain.chainId}`;
      const signature = signatures.get(key) ?? account.signTypedData(data);
      signatures.set(key, signature);
      return signature;
    },
  };
}

/** How the accounts of a scenario sign. */
interface Signing {
  optionsOf(account: string): Promise<ClientOptions>;
  /** Whether the exchange knows the credentials that the account has derived. */
  isSignedIn(account: string): boolean;
}

/** Sends the requests of a scenario over HTTP, each account by a client of its own. */
export class HttpClients {
  readonly #url: string;
  readonly #signing: Signing;
  readonly #transport: Transport;
  /** Sends unsigned requests. */
  readonly unsigned: ExchangeClient;
  readonly #signed = new Map<string, ExchangeClient>();
  readonly close: () => void;

  /** `watch` may wrap the transport to observe requests and replies. */
  constructor(url: string, signing: Signing, watch: (transport: Transport) => Transport = (same) => same) {
    const { send, close } = openTransport(new URL(url), REPLY_TIMEOUT_MS);
    this.#url = url;
    this.#signing = signing;
    this.#transport = watch(send);
    this.unsigned = new ExchangeClient(url, { transport: this.#transport });
    this.close = close;
  }

  /** Returns the client of an account; derives credentials if it has none that the exchange knows. */
  async of(account: string): Promise<ExchangeClient> {
    let client = this.#signed.get(account);
    if (client === undefined) {
      const options = await this.#signing.optionsOf(account);
      client = new ExchangeClient(this.#url, { ...options, transport: this.#transport });
      this.#signed.set(account, client);
    }
    if (client.credentials !== null && this.#signing.isSignedIn(account)) return client;
    const derived = await client.derive();
    if (derived.ok) return client;
    const { code, message } = derived.error;
    throw new VenueError(`${account} cannot derive credentials: ${code}: ${message}`);
  }

  async call<O extends Operation>(operation: O, call: DirectCall = {}): Promise<Attempt<ReplyTo<O>>> {
    const endpoint = endpointOf(operation);
    const { path: parameters = {}, query = {}, body, caller } = call;
    const path = targetOf(filledPath(endpoint, parameters), query);
    const client = caller === undefined ? this.unsigned : await this.of(caller);
    const request = { method: endpoint.method, path, body, signed: endpoint.access === "signed" };
    const sent = await client.send(request);
    if (!sent.ok) return { ...sent.error, ok: false };
    const reply = readReply<ReplyTo<O>>(sent.value);
    if (reply.ok) return reply;
    const { code, message, hint } = reply.error;
    return { ok: false, code: errorCodeOf(sent.value.status, sent.value.body) ?? code, message, hint };
  }

  async request(step: RequestStep, text: (of: string) => string): Promise<RequestReply> {
    const client = step.as === null ? this.unsigned : await this.of(step.as);
    const sent = await client.send(rawRequestOf(step, text));
    if (!sent.ok) return { status: 0, body: { error: sent.error.message }, code: sent.error.code };
    const { status, body } = sent.value;
    return { status, body: body ?? sent.value.text, code: errorCodeOf(status, body) };
  }

  /** Returns null if there is no control plane. */
  async history(reason: string): Promise<VenueHistory | null> {
    const report = await this.unsigned.control.report(reason);
    return report.ok ? { kind: "report", text: report.value } : null;
  }
}

/** A server of this process that was started for one scenario. */
export interface ScenarioServer {
  /** Its origin. */
  readonly url: string;
  readonly service: Service;
  close(): Promise<void>;
}

/** Starts a server with a world, a frozen clock and no faucet, on a free port. */
export type StartServer = (world: World, scenario: Scenario) => Promise<ScenarioServer>;

/** The exchange of a server of this process: every step is sent over HTTP, with signatures. */
export class HttpVenue extends ExchangeVenue {
  readonly #server: ScenarioServer;
  readonly #http: HttpClients;

  /** `watch` may wrap the transport to observe requests and replies. */
  constructor(
    server: ScenarioServer,
    { markets }: Scenario,
    wallets: Wallets,
    watch?: (transport: Transport) => Transport,
  ) {
    createMarkets(server.service.exchange, markets);
    super(server.service, wallets);
    this.#server = server;
    const signing: Signing = {
      optionsOf: async (account) => ({
        account: await signerOf(this.walletOf(account)),
        time: () => this.now() / 1000,
      }),
      isSignedIn: (account) => this.hasSignedIn(account),
    };
    this.#http = new HttpClients(server.url, signing, watch);
  }

  override now(): Millis {
    this.#server.service.clock.advanceToNow();
    return super.now();
  }

  override async call<O extends Operation>(operation: O, call?: DirectCall): Promise<Attempt<ReplyTo<O>>> {
    return this.#http.call(operation, call);
  }

  protected override async signIn(account: string): Promise<string> {
    await this.#http.of(account);
    return this.addressOf(account);
  }

  protected override async moveClock(moment: Millis): Promise<void> {
    const moved = await this.call("setClock", { body: { time: toIso(moment) } });
    if (!moved.ok) throw new VenueError(`${moved.code}: ${moved.message}`);
  }

  async transact(account: string, market: string, change: PositionChange): Promise<Attempt<null>> {
    const { conditionId } = this.marketNamed(market);
    const terms = positionTransaction(await this.signIn(account), conditionId, change);
    const call = { from: terms.from, to: terms.to, data: terms.input };
    const transaction = {
      ...call,
      gas: quantity(terms.gas),
      maxFeePerGas: quantity(terms.maxFeePerGas),
      maxPriorityFeePerGas: quantity(terms.maxPriorityFeePerGas),
    };
    const trial = await this.#askNode("eth_estimateGas", call);
    if (!trial.ok) return trial;
    const impersonated = await this.#askNode("anvil_impersonateAccount", terms.from);
    return impersonated.ok ? this.#askNode("eth_sendTransaction", transaction) : impersonated;
  }

  /** Calls a method of the settlement chain's node. An RPC error refuses the transaction. */
  async #askNode(method: string, parameter: unknown): Promise<Attempt<null>> {
    const body = { jsonrpc: "2.0", id: 1, method, params: [parameter] };
    const sent = await this.#http.unsigned.send({ method: "POST", path: "/chain", body });
    if (!sent.ok) return { ...sent.error, ok: false };
    const { status, body: answer, text } = sent.value;
    const { error = null } = (answer ?? { error: { message: text } }) as RpcAnswer;
    if (error === null) return DONE;
    const refusal = error.code === REVERTED ? "TRANSACTION_REVERTED" : "TRANSACTION_REFUSED";
    const code = status === 200 ? refusal : `HTTP ${status}`;
    return { ok: false, code, message: error.message, hint: null };
  }

  protected override rowExecutor(market: string): ExecuteRow {
    return byOperations(this, market, this.now());
  }

  snapshot() {
    return { exchange: this.exchange.snapshot(), clock: this.#server.service.clock.setting };
  }

  restore(snapshot: unknown): void {
    const { exchange, clock } = snapshot as ReturnType<HttpVenue["snapshot"]>;
    this.exchange.restore(exchange);
    this.#server.service.clock.applySetting(clock);
  }

  override settingsRestorer(): () => void {
    const { faults } = this.#server.service;
    const [restoreBots, injected] = [super.settingsRestorer(), faults.snapshot()];
    return () => {
      restoreBots();
      faults.restore(injected);
    };
  }

  override request(step: RequestStep, text: (of: string) => string): Promise<RequestReply> {
    return this.#http.request(step, text);
  }

  history(reason: string): Promise<VenueHistory | null> {
    return this.#http.history(reason);
  }

  override async dispose(): Promise<void> {
    this.#http.close();
    await this.#server.close();
  }
}

type RpcAnswer = { readonly error?: { readonly code?: number; readonly message: string } };

/** Error code for a call that would revert: EIP-1474 defines none, geth uses 3. */
const REVERTED = 3;

const quantity = (value: number): string => `0x${value.toString(16)}`;
