import type { Credentials, Market } from "../../../src/client/api-messages.ts";
import { attest } from "../../../src/client/wallet.ts";
import { serveWorld } from "../../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../../src/config.ts";
import { type Journal, readJournal } from "../../../src/fuzz/http/answers.ts";
import { Clients } from "../../../src/fuzz/http/clients.ts";
import type { Observation, ObservationLog, SentRequest } from "../../../src/fuzz/http/observation.ts";
import { requestTo } from "../../../src/fuzz/http/observation.ts";
import { reportAt } from "../../../src/fuzz/http/server.ts";
import { OPENED_AT } from "../../../src/fuzz/http/traffic.ts";
import { signerOf, Wallets } from "../../../src/scenario/venue/wallets.ts";
import { emptyWorld } from "../../../src/simulation/opening.ts";

/** A session that was seen whole: what a server reported of it, and what its clients noted. */
export interface Observed {
  readonly journal: Journal;
  readonly log: ObservationLog;
}

const UNIX_TIME = OPENED_AT / 1000;

/**
 * One market, two accounts, and a few requests over two connections, one after the other: reads of the book before,
 * between and after three equal bids of alice's and a sale of bob's, an order that is refused, a cancel of nothing.
 */
export async function observedSession(): Promise<Observed> {
  const server = await serveWorld(
    { ...DEFAULT_CONFIG, port: 0, clock: { mode: "frozen" }, logLevel: "silent", start: OPENED_AT },
    emptyWorld("observed"),
  );
  const clients = new Clients(() => server.port, OPENED_AT);
  const done = async <Body>(client: number, request: SentRequest): Promise<Body> => {
    const answer = await clients.ask(client, request);
    return JSON.parse(answer?.body ?? "null") as Body;
  };
  const market = await done<Market>(
    0,
    requestTo("createMarket", { body: { question: "Rain?", eventId: await event() } }),
  );
  async function event(): Promise<string> {
    return (await done<{ id: string }>(0, requestTo("createEvent", { body: { title: "Weather" } }))).id;
  }
  const wallets = new Wallets();
  const signer = async (name: string) => {
    const { address } = wallets.of(name);
    const claim = { scheme: "typed-data", chainId: 137, unixTime: UNIX_TIME, nonce: 0 } as const;
    const body = await attest(await signerOf(wallets.of(name)), claim);
    const credentials = await done<Credentials>(0, requestTo("deriveApiKey", { body }));
    return { credentials: { ...credentials, address }, unixTime: UNIX_TIME };
  };
  const [alice, bob] = [await signer("alice"), await signer("bob")];
  const tokenId = market.tokens[0]?.tokenId ?? "";
  const order = (side: "BUY" | "SELL", size: number) => ({
    body: { tokenId, side, price: 0.5, size, orderType: "GTC" },
  });
  const book = requestTo("getBook", { query: { token_id: tokenId } });
  await done(1, book);
  await done(0, requestTo("placeOrder", order("BUY", 10), alice));
  await done(1, book);
  await done(0, requestTo("placeOrder", order("BUY", 10), alice));
  await done(1, requestTo("placeOrder", order("SELL", 5), bob));
  await done(0, requestTo("placeOrder", order("BUY", 0.5), alice));
  await done(1, requestTo("cancelAllOrders", {}, bob));
  await done(0, requestTo("setClock", { body: { advance: "5s" } }));
  await done(0, requestTo("cancelAllOrders", {}, alice));
  await done(1, book);
  const { hash } = await done<{ hash: string }>(0, requestTo("getStateHash"));
  clients.close();
  const report = await reportAt(server.port);
  await server.close();
  const log = {
    numbers: "number",
    mayLose: [],
    finalHash: hash,
    observations: clients.observations,
  } as const;
  return { journal: readJournal(Buffer.from(report)), log };
}

/** The log with one of its observations changed, or without it where `change` answers null. */
export function changed(
  log: ObservationLog,
  which: Observation,
  change: (observation: Observation) => Observation | null,
): ObservationLog {
  const observations = log.observations.flatMap((each) => (each === which ? (change(each) ?? []) : each));
  return { ...log, observations };
}
