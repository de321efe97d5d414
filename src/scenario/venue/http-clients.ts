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
import type { DirectCall } from "../../server/handlers/all.ts";
import { type Tamper, within } from "../language/request-step.ts";
import type { RequestStep } from "../language/steps.ts";
import { type Attempt, type RawReply, VenueError, type VenueHistory } from "./views.ts";

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
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" ? code : `HTTP ${status}`;
}

const TIMEOUT_MS = 30_000;

/** How the clients of a scenario's accounts are made. */
interface Signing {
  /** Makes the client of an account, which sends its requests through `transport`. */
  open(account: string, transport: Transport): Promise<ExchangeClient>;
  /** Whether the exchange knows the credentials that the account has derived. */
  isSignedIn(account: string): boolean;
}

/** Sends the requests of a scenario over HTTP, each account by a client of its own. */
export class HttpClients {
  readonly #transport: Transport;
  readonly #signing: Signing;
  /** Sends unsigned requests. */
  readonly #unsigned: ExchangeClient;
  readonly #signed = new Map<string, ExchangeClient>();
  readonly close: () => void;

  /** `watch` may wrap the transport to observe requests and replies. */
  constructor(url: string, signing: Signing, watch: (transport: Transport) => Transport = (same) => same) {
    const { send, close } = openTransport(new URL(url), TIMEOUT_MS);
    this.#transport = watch(send);
    this.#unsigned = new ExchangeClient(url, { transport: this.#transport });
    this.#signing = signing;
    this.close = close;
  }

  /** Returns the client of an account; derives credentials if it has none that the exchange knows. */
  async of(account: string): Promise<ExchangeClient> {
    const client = this.#signed.get(account) ?? (await this.#signing.open(account, this.#transport));
    this.#signed.set(account, client);
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
    const client = caller === undefined ? this.#unsigned : await this.of(caller);
    const request = { method: endpoint.method, path, body, signed: endpoint.access === "signed" };
    const sent = await client.send(request);
    if (!sent.ok) return { ...sent.error, ok: false };
    const reply = readReply<ReplyTo<O>>(sent.value);
    if (reply.ok) return reply;
    const { code, message, hint } = reply.error;
    return { ok: false, code: errorCodeOf(sent.value.status, sent.value.body) ?? code, message, hint };
  }

  /** Sends an unsigned request as it is. */
  send(request: RawRequest): ReturnType<ExchangeClient["send"]> {
    return this.#unsigned.send(request);
  }

  /** Sends the request of a step; `text` replaces words in braces by ids. */
  async request(step: RequestStep, text: (of: string) => string): Promise<RawReply> {
    const client = step.as === null ? this.#unsigned : await this.of(step.as);
    const sent = await client.send(rawRequestOf(step, text));
    const wanted = within(step.answers?.value, text);
    if (!sent.ok) return { status: 0, body: { error: sent.error.message }, code: sent.error.code, wanted };
    const { status, body } = sent.value;
    return { status, body: body ?? sent.value.text, code: errorCodeOf(status, body), wanted };
  }

  /** Returns null if there is no control plane. */
  async history(reason: string): Promise<VenueHistory | null> {
    const report = await this.#unsigned.control.report(reason);
    return report.ok ? { kind: "report", text: report.value } : null;
  }
}
