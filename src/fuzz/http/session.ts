import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHAIN_IDS } from "../../api/wallet-signature.ts";
import type { Credentials, Market } from "../../client/api-messages.ts";
import { attest } from "../../client/wallet.ts";
import { type Stream, stream } from "../../core/random.ts";
import { signerOf, Wallets } from "../../scenario/venue/wallets.ts";
import { asScenario, reducing, withScenario } from "../failure-files.ts";
import type { FailureFiles, SeedOutcome, SeedRunner, SeedSettings } from "../outcome.ts";
import { readJournal } from "./answers.ts";
import { check } from "./check.ts";
import { Clients, type Flight } from "./clients.ts";
import { logText, type ObservationLog, requestTo, type SentRequest } from "./observation.ts";
import { type FuzzedServer, openServer } from "./server.ts";
import {
  type HttpProfile,
  httpProfile,
  OPENED_AT,
  type Party,
  profileLine,
  type TradedMarket,
  Traffic,
} from "./traffic.ts";

/** The history of one seed: its clients open markets and accounts, and then trade, all at once. */
export class FuzzSession {
  readonly #profile: HttpProfile;
  readonly #server: FuzzedServer;
  readonly #wallets: Wallets;
  readonly #clients: Clients;
  readonly #random: Stream;
  /** Requests that may still be without an answer, by client. */
  readonly #underWay: Flight[][];
  #port: number;

  constructor(profile: HttpProfile, server: FuzzedServer, wallets: Wallets) {
    this.#profile = profile;
    this.#server = server;
    this.#wallets = wallets;
    this.#port = server.port;
    this.#clients = new Clients(() => this.#port, OPENED_AT);
    this.#underWay = Array.from({ length: profile.clients }, () => []);
    this.#random = stream(profile.seed, "fuzz/http/rounds");
  }

  /**
   * Runs the history to its end; answers its report, what was seen, and how many requests opened the exchange, before the
   * first that was drawn. @throws Error where the exchange cannot even be opened.
   */
  async run(commands: number) {
    const traffic = await this.#open();
    const opening = this.#clients.observations.length;
    await this.#trade(traffic, commands);
    const last = await this.#clients.ask(0, requestTo("removeFaults"));
    const hash = last === null ? null : await this.#clients.ask(0, requestTo("getStateHash"));
    this.#clients.close();
    if (this.#clients.fault !== null) throw this.#clients.fault;
    const report = await this.#server.report();
    return { report, log: this.#log(hash?.body ?? null), opening };
  }

  #log(hash: string | null): ObservationLog {
    const { faultOneIn, server, numbers } = this.#profile;
    const reasons = [
      ...(faultOneIn > 0 ? (["faults"] as const) : []),
      ...(server === "killed" ? (["kill"] as const) : []),
    ];
    return {
      numbers,
      mayLose: this.#clients.isStuck ? [] : reasons,
      finalHash: hash === null ? null : (/"hash":"([^"]+)"/.exec(hash)?.[1] ?? null),
      observations: this.#clients.observations,
    };
  }

  /** Opens markets and accounts, one request after the other. */
  async #open(): Promise<Traffic> {
    const { markets, accounts } = this.#profile;
    const event = await this.#done<{ id: string }>(requestTo("createEvent", { body: { title: "Fuzz" } }));
    const opened: TradedMarket[] = [];
    for (const terms of markets) {
      const { slug, tick, feeRateBps, matching, selfTrade } = terms;
      const body = {
        eventId: event.id,
        question: slug,
        slug,
        tickSize: tick / 10_000,
        feeRateBps,
        matching,
        selfTrade,
      };
      const { id, tokens } = await this.#done<Market>(requestTo("createMarket", { body }));
      opened.push({ terms, id, tokenIds: tokens.map(({ tokenId }) => tokenId) });
    }
    const tokens = Object.fromEntries(
      opened.flatMap(({ tokenIds }) => tokenIds.map((tokenId) => [tokenId, this.#profile.shares])),
    );
    const parties: Party[] = [];
    for (let number = 1; number <= accounts; number += 1) {
      const party = await this.#derive(`fuzz-${number}`);
      const body = { collateral: this.#profile.collateral, ...(this.#profile.shares > 0 && { tokens }) };
      await this.#done(requestTo("fundAccount", { path: { address: party.credentials.address }, body }));
      parties.push(party);
    }
    return new Traffic(this.#profile, parties, opened);
  }

  async #derive(name: string): Promise<Party> {
    const wallet = this.#wallets.of(name);
    const claim = {
      scheme: "typed-data",
      chainId: CHAIN_IDS[0],
      unixTime: OPENED_AT / 1000,
      nonce: 0,
    } as const;
    const body = await attest(await signerOf(wallet), claim);
    const credentials = await this.#done<Credentials>(requestTo("deriveApiKey", { body }));
    return { credentials: { ...credentials, address: wallet.address }, orders: [] };
  }

  async #done<Body>(request: SentRequest): Promise<Body> {
    const answer = await this.#clients.ask(0, request);
    if (answer?.status === 200) return JSON.parse(answer.body) as Body;
    throw new Error(
      `${request.operation} is answered with ${answer?.status ?? "nothing"}: ${answer?.body ?? ""}`,
    );
  }

  /** Sends what the seed has drawn, in rounds: several clients at once, some of whom do not wait for their answers. */
  async #trade(traffic: Traffic, commands: number): Promise<void> {
    const { clients, server, killedAt } = this.#profile;
    const kills = server === "killed" ? killedAt.map((share) => (commands * share) / 100) : [];
    for (let sent = 0; sent < commands; ) {
      const count = Math.min(commands - sent, this.#random.between(1, clients * 2));
      for (let index = 0; index < count; index += 1) await this.#ask(traffic);
      sent += count;
      if (sent > (kills[0] ?? commands)) {
        kills.shift();
        await this.#kill();
      }
      await this.#wait();
    }
    await Promise.all(this.#underWay.flat().map(({ done }) => done));
  }

  /** One request of one client, which waits first where it has as many under way as it may have. */
  async #ask(traffic: Traffic): Promise<void> {
    const { clients, cutOneIn, pipelined } = this.#profile;
    const client = this.#random.below(clients);
    const own = this.#underWay[client] as Flight[];
    while (own.length >= pipelined) await own.shift()?.done;
    const request = traffic.next(client, this.#clients.time);
    const cutAt = cutOneIn > 0 && this.#random.oneIn(cutOneIn) ? this.#random.between(1, 200) : null;
    const flight = await this.#clients.send(client, request, cutAt);
    flight.done.then((answer) => traffic.learn(client, request, answer));
    own.push(flight);
  }

  /** Waits until some of the clients have all their answers; in one round out of three all of them. */
  async #wait(): Promise<void> {
    const isForAll = this.#random.oneIn(3);
    const awaited = this.#underWay.filter(() => this.#random.oneIn(2) || isForAll);
    await Promise.all(awaited.flatMap((flights) => flights.splice(0)).map(({ done }) => done));
  }

  /** Kills the server while requests are under way, and goes on with the one in its place. */
  async #kill(): Promise<void> {
    await this.#clients.ends(this.#random.below(this.#clients.underWay + 1));
    this.#port = await this.#server.kill();
  }
}

/**
 * Runs seeds through real clients of a real server, several at once, and checks that what they saw is one history.
 * Requests are the seed's; in which order a server takes up those of several connections is the machine's, so that a
 * seed may pass where it has failed before: what was seen goes with the outcome of one that fails.
 */
export class OverHttp implements SeedRunner {
  readonly #program: string;
  readonly #wallets = new Wallets();

  /** `program` is the file of the built program, which is killed and opened again; default: the one beside this code. */
  constructor(program = fileURLToPath(new URL("./cli.js", import.meta.url))) {
    this.#program = program;
  }

  async run(seed: number, { commands }: SeedSettings): Promise<SeedOutcome> {
    const profile = httpProfile(seed);
    const server = await openServer(profile, () => this.#program);
    try {
      const { report, log, opening } = await new FuzzSession(profile, server, this.#wallets).run(commands);
      const finding = await check(readJournal(Buffer.from(report)), log);
      const outcome = { seed, profile: profileLine(profile), commands };
      if (finding === null) return { ...outcome, failure: null };
      const { fingerprint, seen, message: sentence, isOfHistory } = finding;
      const { observations } = log;
      const index = seen === null ? observations.length - 1 : observations.indexOf(seen);
      const command = Math.max(1, Math.min(commands, index + 1 - opening));
      const evidence = { report, observations: logText(log), isOfHistory };
      return { ...outcome, failure: { fingerprint, sentence, command }, evidence };
    } finally {
      await server.close();
    }
  }

  async write(
    { evidence }: SeedOutcome,
    _settings: SeedSettings,
    folder: string,
    name: string,
  ): Promise<FailureFiles> {
    if (evidence === undefined) throw new Error("an outcome over HTTP has failed without evidence");
    const report = join(folder, `${name}.ndjson`);
    const seen = join(folder, `${name}.observations.ndjson`);
    writeFileSync(report, evidence.report);
    writeFileSync(seen, evidence.observations);
    if (!evidence.isOfHistory) {
      const remark = `what clients saw differs from the journal, which no scenario can tell: ${seen} holds every request and answer`;
      return { scenario: null, report, remark };
    }
    const { config, start, opening, session, failing } = readJournal(Buffer.from(evidence.report)).history;
    const entries = [...opening, ...session, ...(failing === null ? [] : [failing])];
    const told = await asScenario({ config, start, entries }, { isOver: reducing() });
    const none = { text: null, remark: "the commands of the journal alone do not fail" };
    return withScenario(join(folder, `${name}.yaml`), report, told ?? none);
  }
}

/** Seeds over HTTP, with the program that this code is a part of. */
export const overHttp: SeedRunner = new OverHttp();
