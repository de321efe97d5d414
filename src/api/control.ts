import * as z from "zod";
import type { Optional, Type } from "../core/schema.ts";
import { ExchangeConfig } from "../core/state.ts";
import { endpoints } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

const mode = z.enum(["real", "frozen", "scaled"]);

const clockShape = { mode, time: field.moment, rate: z.number().min(0), unixTime: field.unixSeconds };

const clockSchema = exactly("Clock", clockShape, "`rate` is virtual seconds per wall second.");

/** Config fields that GET /sim reports in a form of its own. */
const CONVERTED = ["seed", "credentials", "approvals", "faucet"] as const;
type Terms = Omit<ExchangeConfig, (typeof CONVERTED)[number]>;

/** Returns the schema of an integer or enum field; an optional field is absent if it has its default. */
function termSchema(type: Type<unknown>): z.ZodType {
  const { values, range: [low, high] = [0, 0], isOptional = false } = type as Partial<Optional<unknown>>;
  const schema = values === undefined ? z.int().min(low).max(high) : z.enum(values);
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

export const infoSchema = exactly("Info", {
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
      curl: z.string().meta({ description: "A shell command that gets its API credentials." }),
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
  getClock: {
    route: "GET /sim/clock",
    summary: "The virtual clock",
    reply: clockSchema,
  },
  setClock: {
    route: "POST /sim/clock",
    summary: "Freeze, scale, set or advance the clock; returns the timers that fired",
    body: objectBody(
      named(
        "NewClock",
        z.object({
          mode: mode.optional(),
          time: z
            .string()
            .optional()
            .meta({ description: "ISO-8601 with a zone; must not be before the clock's time." }),
          advance: z.string().optional().meta({ description: "A duration such as 90s, 2h or 500ms." }),
          rate: z.number().gt(0).max(1_000_000).optional().meta({ description: "With mode scaled." }),
        }),
      ),
    ),
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
    summary: "SHA-256 of the canonical state",
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
