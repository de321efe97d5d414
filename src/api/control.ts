import * as z from "zod";
import { BOT_PROFILES, KINDS } from "../bots/profiles.ts";
import { isOneLine, MAX_SEED_LENGTH } from "../core/format.ts";
import type { Optional, Type } from "../core/schema.ts";
import { ExchangeConfig } from "../core/state.ts";
import { type Endpoint, endpoints, oneOf, optional, type Param, paged } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, MAX_TIMES, named, page } from "./schemas.ts";

const mode = z.enum(["real", "frozen", "scaled"]);

const clockShape = { mode, time: field.moment, rate: z.number().min(0), unixTime: field.unixSeconds };

const clockSchema = exactly("Clock", clockShape, "`rate` is virtual seconds per wall second.");

/** Config fields that GET /sim reports in a form of its own. */
const CONVERTED = ["seed", "credentials", "approvals", "faucet"] as const;
type Terms = Omit<ExchangeConfig, (typeof CONVERTED)[number]>;

/** Returns the schema of an integer or enum field; an optional field is absent if it has its default. */
function termSchema(type: Type<unknown>): z.ZodType {
  const { values, range: [low, high] = [0, 0], isOptional = false } = type as Partial<Optional<unknown>>;
  const schema = values === undefined ? z.int().min(low).max(high) : z.enum(values as readonly string[]);
  return isOptional ? schema.optional() : schema;
}

const termSchemas = Object.fromEntries(
  Object.entries<Type<unknown>>(ExchangeConfig.fields)
    .filter(([name]) => !(CONVERTED as readonly string[]).includes(name))
    .map(([name, type]) => [name, termSchema(type)]),
) as { readonly [Name in keyof Terms]: z.ZodType<Terms[Name]> };

const configSchema = z.strictObject({
  numbers: z.enum(["number", "string"]),
  credentials: z.enum(["rotate", "once"]),
  personalSign: z.boolean(),
  unknownFields: z.enum(["accept", "refuse"]),
  ...termSchemas,
  approvals: z.enum(["granted", "required"]),
  faucet: z.strictObject({ collateral: field.usdc, sharesOfEveryToken: field.shares }),
});

const infoSchema = exactly("Info", {
  name: z.literal("clobsim"),
  version: z.string(),
  seed: z.string(),
  clock: clockSchema,
  sequence: field.count,
  stateHash: field.stateDigest,
  config: configSchema,
  events: field.count,
  markets: field.count,
  orders: field.count,
  trades: field.count,
  devAccounts: z.array(
    exactly("DevAccount", {
      address: field.address,
      privateKey: field.hex(/^[0-9a-f]{64}$/),
      curl: z.string().describe("A shell command that gets its API credentials."),
    }),
  ),
  houseAccounts: z.strictObject({ faucet: field.address, fees: field.address }),
});

/** /sim: control of the whole exchange (contract, section 7), not part of the imitated service. */
export const controlEndpoints = endpoints("control", "Control plane", {
  getInfo: {
    route: "GET /sim",
    summary: "Version, seed, clock, sequence, state hash, config and dev accounts",
    reply: infoSchema,
  },
  getClock: { route: "GET /sim/clock", summary: "The virtual clock", reply: clockSchema },
  setClock: {
    route: "POST /sim/clock",
    summary: "Freeze, scale, set or advance the clock; returns the timers that fired",
    body: objectBody("NewClock", {
      mode: mode.optional(),
      time: z
        .string(field.TIME)
        .optional()
        .describe("ISO-8601 with a zone; must not be before the clock's time."),
      advance: z.string(field.DURATION).optional().describe("A duration such as 90s, 2h or 500ms."),
      rate: z.number().gt(0).max(1_000_000).optional().describe("With mode scaled."),
    }),
    reply: exactly("ClockChange", {
      ...clockShape,
      fired: z.array(
        named(
          "Fired",
          z.discriminatedUnion("kind", [
            z.strictObject({ kind: z.literal("ORDER_EXPIRED"), orderId: field.uuid, at: field.moment }),
            z.strictObject({
              kind: z.literal("BLOCK_MINED"),
              blockNumber: field.count,
              transactions: field.count,
              at: field.moment,
            }),
          ]),
        ),
      ),
    }),
  },
  reset: {
    route: "POST /sim/reset",
    summary: "Restart from the initial world: state, clock, timers and ids",
    reply: infoSchema,
  },
  getState: {
    route: "GET /sim/state",
    summary: "The whole state as canonical JSON",
    reply: named(
      "State",
      z.looseObject({ units: z.record(z.string(), z.string()) }),
      "Canonical: equal histories give equal bytes.",
    ),
  },
  getStateHash: {
    route: "GET /sim/state/hash",
    summary: "A hash of the history that led to the state",
    reply: exactly("StateHash", { hash: field.stateDigest, sequence: field.count }),
  },
  getInvariants: {
    route: "GET /sim/invariants",
    summary: "Each invariant with its figures",
    reply: exactly("Invariants", {
      hold: z.boolean(),
      invariants: z.array(
        exactly("Invariant", {
          name: z.string(),
          holds: z.boolean(),
          checked: field.count,
          differences: z.array(z.string()),
        }),
      ),
    }),
  },
});

export const serviceEndpoints = endpoints("public", "Service", {
  getHealth: {
    route: "GET /healthz",
    summary: "Whether the server answers",
    reply: exactly("Health", { status: z.literal("ok"), time: field.moment }),
  },
  getOpenApi: {
    route: "GET /openapi.json",
    summary: "This document",
    reply: named("OpenApiDocument", z.looseObject({ openapi: z.string() }), "OpenAPI 3.1."),
  },
});

const snapshotSchema = exactly("Snapshot", {
  id: z.string().regex(/^snapshot-[1-9][0-9]*$/),
  name: z.string().nullable(),
  sequence: field.count,
  time: field.moment,
  hash: field.stateDigest,
});

/** /sim/snapshots: states of the exchange to restore (contract, section 7). */
export const snapshotEndpoints = endpoints("control", "Control plane", {
  listSnapshots: {
    route: "GET /sim/snapshots",
    summary: "All snapshots, oldest first",
    query: paged(50, 500),
    reply: page("SnapshotPage", snapshotSchema),
  },
  takeSnapshot: {
    route: "POST /sim/snapshots",
    summary: "Take a snapshot of state, clock, timers and ids; at most 1000 snapshots",
    body: objectBody(
      "NewSnapshot",
      {
        name: z
          .string()
          .min(1)
          .max(100)
          .regex(/^(?!snapshot-[0-9]+$)/, "expected a name that is not an id")
          .optional()
          .describe("A name besides its id; of several snapshots with one name, the latest is used."),
      },
      { required: false },
    ),
    reply: snapshotSchema,
    errors: ["LIMIT_REACHED"],
  },
  restoreSnapshot: {
    route: "POST /sim/snapshots/{idOrName}/restore",
    summary: "Restore a snapshot by id, or the latest of a name; time and sequence may go back",
    reply: infoSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
  forgetSnapshot: {
    route: "DELETE /sim/snapshots/{idOrName}",
    summary: "Delete a snapshot and return it",
    reply: snapshotSchema,
    errors: ["SNAPSHOT_NOT_FOUND"],
  },
});

const route = z.string().min(1).max(200);

const status = z.literal([429, 500, 502, 503, 504]);

const drop = z.enum(["connection", "reply"]);

const retryAfter = z.int().min(0).max(86_400);

const latency = z.string(field.DURATION).max(40);

const id = z.string().regex(/^fault-[1-9][0-9]*$/);

const faultSchema = exactly("Fault", {
  id,
  route,
  status: status.nullable(),
  retryAfter: retryAfter.nullable(),
  latency: latency.nullable(),
  drop: drop.nullable(),
  probability: field.probability,
  times: field.count.nullable(),
  after: field.count,
  matched: field.count.describe("Number of requests to its route so far."),
  fired: field.count,
  remaining: field.count.nullable().describe("How often it will still apply; null if unlimited."),
});

/** /sim/faults: injected faults between a client and the imitated service (contract, section 7). */
export const faultEndpoints = endpoints("control", "Control plane", {
  listFaults: {
    route: "GET /sim/faults",
    summary: "All injected faults, oldest first, with the number of times each was applied",
    query: paged(50, 500),
    reply: page("FaultPage", faultSchema),
  },
  addFault: {
    route: "POST /sim/faults",
    summary:
      "Inject a fault into /api, /clob and /chain: latency, an error status, a lost connection or reply",
    description:
      "Of the faults that fire for a request, at most two apply: the oldest that has only a latency, and the oldest other one. Latencies add up. Every fault counts and draws for all requests of its route, whether it applies or not.",
    body: objectBody("NewFault", {
      route: route
        .default("*")
        .describe("Method and path as in this document, such as POST /clob/order; a path; or *."),
      status: status.optional().describe("Status of the answer; the request is not executed."),
      retryAfter: retryAfter
        .optional()
        .describe("Seconds in Retry-After, with status 429 or 503; 1 by default."),
      latency: latency
        .optional()
        .describe("Delay of a request before it is processed, such as 200ms; at most 1h."),
      drop: drop
        .optional()
        .describe(
          "Closes the connection before the request is executed (connection), or instead of the answer (reply).",
        ),
      probability: field.probability.default(1),
      times: z.int().min(1).max(MAX_TIMES).optional().describe("How often it applies; always by default."),
      after: z.int().min(0).max(MAX_TIMES).default(0).describe("Number of requests it skips first."),
    }),
    reply: faultSchema,
    errors: ["LIMIT_REACHED"],
  },
  removeFaults: {
    route: "DELETE /sim/faults",
    summary: "Remove all faults",
    reply: exactly("RemovedFaults", { removed: z.array(id) }),
  },
  removeFault: {
    route: "DELETE /sim/faults/{id}",
    summary: "Remove a fault and return it",
    reply: faultSchema,
    errors: ["FAULT_NOT_FOUND"],
  },
});

/** Whether faults can apply to an endpoint: only to those of the imitated service. */
export const takesFaults = ({ access, tag }: Pick<Endpoint, "access" | "tag">): boolean =>
  access !== "control" && tag !== "Service";

const profile = z.enum(BOT_PROFILES);

const seed = z.string().min(1).max(MAX_SEED_LENGTH);

const botsSchema = exactly("Bots", {
  profile: profile.nullable().describe("Null if no bots act."),
  seed: z.string().nullable().describe("Seed of their decisions."),
  bots: z.array(
    exactly("Bot", {
      name: z.string().regex(/^bot-[a-z]+-[1-9][0-9]*$/),
      kind: z.enum(KINDS),
      address: field.address,
      openOrders: field.count,
      fills: field.count,
    }),
  ),
});

/** /sim/bots: automatic traders in virtual time. */
export const botEndpoints = endpoints("control", "Control plane", {
  getBots: {
    route: "GET /sim/bots",
    summary: "The acting bots with their orders and fills",
    reply: botsSchema,
  },
  startBots: {
    route: "POST /sim/bots",
    summary: "Start the bots of a profile in place of the current ones",
    body: objectBody(
      "NewBots",
      {
        profile,
        seed: seed
          .optional()
          .describe("Another seed gives other trades; the default is the seed of the exchange."),
      },
      { hints: { profile: "DELETE /sim/bots ends the current bots" } },
    ),
    reply: botsSchema,
  },
  endBots: {
    route: "DELETE /sim/bots",
    summary: "End the bots and cancel the orders of all current and earlier bots",
    reply: exactly("EndedBots", {
      profile: profile.nullable().describe("Profile of the ended bots."),
      canceled: field.count,
    }),
  },
});

const MAX_NAME = 200;

/** Declares a parameter of one line of text. */
const oneLine = (description: string): Param<string | undefined> =>
  optional(
    `${description}, one line of at most ${MAX_NAME} characters.`,
    { type: "string", minLength: 1, maxLength: MAX_NAME },
    `one line of 1 to ${MAX_NAME} characters`,
    (text) => (text.trim() !== "" && isOneLine(text, MAX_NAME) ? text : undefined),
  );

/** Description of the live feed; `event-stream.ts` has its types. */
const STREAM = `The contents of the journal as events of \`text/event-stream\`. The data of each event is one line of JSON; times are virtual Unix ms.

- \`opening\`: where the reader starts. Its \`reason\` is the requested \`start\` or \`now\`; or the reader starts with the current state, because it was too slow (\`slow\`), a snapshot was restored or the exchange was reset (\`putBack\`; the \`request\` that did it follows), the id is not in memory (\`unknown\`), or the session is too long (\`tooLong\`). With all reasons but \`now\` it has \`config\`, \`start\` and \`base\`, like the first line of a journal; \`base.content.clobsim.digest\` is the digest of the history.
- \`command\`: \`s\` sequence, \`t\` time, \`k\` kind, \`d\` fields, \`r\` 8 hex digits of a hash of its events.
- \`refused\`: a refused request, as in the journal. \`clock\`: the clock was set or moved; its mode and rate as in \`GET /sim/clock\`.
- \`request\`: a request that could change something, or that failed: \`requestId\`, \`method\`, \`path\`, \`status\`, wall \`ms\`, \`code\`, \`fault\`, \`caller\`, and \`first\` and \`last\` of the commands accepted between its start and its answer. Each push has at most 20 successful requests with commands outside \`/sim\`.

An id begins with the sequence of the latest command. A reader that sends it as \`Last-Event-ID\` resumes after that entry without gaps or repeats, or gets an \`opening\` if that is impossible. Entries are sent only once they are durable. A reader with \`from=start\` also gets earlier commands and refused requests, whose ids end in \`-start\`. The server sends at most 30 times a second, and a comment every 15 s.`;

const ENTRY_ID = /^\d{1,15}(?:(?:\.\d{1,15})?-[0-9a-f]{8}(?:-start)?)?$/;

export const entryId = optional(
  "Id of the entry after which to resume; the header `Last-Event-ID` takes precedence.",
  { type: "string" },
  "the id of an entry such as 1893-5f0a91cc, or the sequence of a command",
  (text) => (ENTRY_ID.test(text) ? text : undefined),
);

/** The session (contract, section 7): its inputs, as a checked scenario, for replay, and as it goes on. */
export const recordingEndpoints = endpoints("control", "Control plane", {
  listJournal: {
    route: "GET /sim/journal",
    summary: "The inputs since the exchange was opened, oldest first: accepted commands and refused requests",
    description:
      "Of refused requests, it has the first 5,000. What came before a restart is only in the data directory: `clobsim journal` prints it. `GET /sim/stream` sends the same as it happens.",
    query: paged(100, 1_000),
    reply: page(
      "JournalPage",
      exactly("JournalEntry", {
        sequence: field.count.describe("Of a refused request: that of the command before it."),
        at: field.moment,
        kind: z.string().describe("Kind of the command, such as `placeOrder`; or `refused`."),
        data: z.record(z.string(), z.unknown()).describe("Its fields, in the units of `GET /sim/state`."),
      }),
    ),
    errors: ["SESSION_TOO_LONG"],
  },
  recordScenario: {
    route: "GET /sim/scenario",
    summary: "The session since the exchange was opened, as a scenario file that passes",
    query: { name: oneLine("Name of the scenario") },
    reply: exactly(
      "RecordedScenario",
      {
        name: z.string(),
        scenario: z.string().describe("A scenario file, YAML, that passes."),
        orders: field.count,
        trades: field.count,
      },
      "The session since the exchange was opened, with its results.",
    ),
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  },
  reportSession: {
    route: "GET /sim/report",
    summary: "A bug report: everything needed to replay the session on another machine",
    query: { reason: oneLine("Reason for the report") },
    reply: named(
      "Report",
      z.string(),
      "A journal with one JSON object per line: how the exchange was opened, every command with a hash of its events, and the hash of the state. `clobsim replay FILE` replays it.",
    ),
    media: "application/x-ndjson",
    errors: ["SESSION_TOO_LONG", "UNAVAILABLE"],
  },
  streamSession: {
    route: "GET /sim/stream",
    summary: "Live feed of the exchange: endless Server-Sent Events",
    description: STREAM,
    query: {
      from: oneOf(["start", "now"], "Start with the session, or with the next entry (default)."),
      since: entryId,
    },
    reply: named(
      "Stream",
      z.string(),
      "Events `opening`, `command`, `refused`, `clock` and `request`; the data of each is a JSON object in one line.",
    ),
    media: "text/event-stream",
    errors: ["UNAVAILABLE"],
  },
});
