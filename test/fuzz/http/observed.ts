import type { Credentials, Market } from "../../../src/client/api-messages.ts";
import { serveWorld } from "../../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../../src/config.ts";
import { FROZEN_START } from "../../../src/core/units.ts";
import { type Journal, readJournal } from "../../../src/fuzz/http/answer-replay.ts";
import {
  Clients,
  type Observation,
  type ObservationLog,
  requestTo,
  type SentRequest,
} from "../../../src/fuzz/http/observation.ts";
import { derivationRequest, reportAt } from "../../../src/fuzz/http/session.ts";
import { Wallets } from "../../../src/scenario/venue/venue.ts";
import { emptyWorld } from "../../../src/simulation/opening.ts";

/** A complete session: the server's journal, and the observations of its clients. */
export interface ObservedSession {
  readonly journal: Journal;
  readonly log: ObservationLog;
}

/**
 * Runs a session with one market, two accounts and two connections, one request after the other: reads of the book
 * before, between and after three equal bids of alice and a sale of bob, a refused order, a cancel without orders.
 */
export async function observedSession(): Promise<ObservedSession> {
  const { server } = await serveWorld(
    { ...DEFAULT_CONFIG, port: 0, clock: { mode: "frozen" }, logLevel: "silent", start: FROZEN_START },
    emptyWorld("observed"),
  );
  const clients = new Clients(() => server.port, FROZEN_START);
  const done = async <Body>(client: number, request: SentRequest): Promise<Body> => {
    const answer = await clients.ask(client, request);
    return JSON.parse(answer?.body ?? "null") as Body;
  };
  const event = await done<{ id: string }>(0, requestTo("createEvent", { body: { title: "Weather" } }));
  const market = await done<Market>(
    0,
    requestTo("createMarket", { body: { question: "Rain?", eventId: event.id } }),
  );
  const wallets = new Wallets();
  const signer = async (name: string) => {
    const wallet = wallets.of(name);
    const credentials = await done<Credentials>(0, await derivationRequest(wallet));
    return { credentials: { ...credentials, address: wallet.address }, unixTime: FROZEN_START / 1000 };
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
  const { observations } = clients;
  const log = { numbers: "number", mayLose: [], finalHash: hash, observations } as const;
  return { journal: readJournal(Buffer.from(report)), log };
}

/** Returns the log with one observation changed, or without it if `change` returns null. */
export function changed(
  log: ObservationLog,
  which: Observation,
  change: (observation: Observation) => Observation | null,
): ObservationLog {
  const observations = log.observations.flatMap((each) => (each === which ? (change(each) ?? []) : each));
  return { ...log, observations };
}

/** Reads a log from the text that `logText` wrote. */
export function readLog(text: string): ObservationLog {
  const [facts, ...observations] = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
  return { ...(facts as Omit<ObservationLog, "observations">), observations: observations as Observation[] };
}
