import * as z from "zod";
import { BOT_PROFILES, KINDS } from "../bots/profiles.ts";
import { endpoints } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

const profile = z.enum(BOT_PROFILES);

const seed = z.string().min(1).max(128);

const botsSchema = exactly("Bots", {
  profile: profile.nullable().meta({ description: "Null if no bots act." }),
  seed: seed.nullable().meta({ description: "Seed of their decisions." }),
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
      named(
        "NewBots",
        z.object({
          profile,
          seed: seed.optional().meta({
            description: "Another seed gives other trades; the default is the seed of the exchange.",
          }),
        }),
      ),
      { hints: { profile: "DELETE /sim/bots ends the current bots" } },
    ),
    reply: botsSchema,
  },
  endBots: {
    route: "DELETE /sim/bots",
    summary: "End the bots and cancel the orders of all current and earlier bots",
    reply: exactly("EndedBots", {
      profile: profile.nullable().meta({ description: "Profile of the ended bots." }),
      canceled: field.count,
    }),
  },
});
