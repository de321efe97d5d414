import * as z from "zod";
import { BOT_PROFILES, KINDS } from "../bots/profiles.ts";
import { endpoints } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

const profile = z.enum(BOT_PROFILES);

const seed = z.string().min(1).max(128);

const botsSchema = exactly("Bots", {
  profile: profile.nullable().meta({ description: "Null: none act." }),
  seed: seed.nullable().meta({ description: "Decides what they do." }),
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

/** /sim/bots: traders that act by themselves in virtual time. */
export const botEndpoints = endpoints("control", "Control plane", {
  getBots: {
    route: "GET /sim/bots",
    summary: "The bots that act, with what each has done",
    reply: botsSchema,
  },
  startBots: {
    route: "POST /sim/bots",
    summary: "Let the bots of a profile act from now on, in place of those that did",
    body: objectBody(
      named(
        "NewBots",
        z.object({
          profile,
          seed: seed
            .optional()
            .meta({ description: "Another market from another seed; left out, that of the exchange." }),
        }),
      ),
      { hints: { profile: "DELETE /sim/bots ends those that act" } },
    ),
    reply: botsSchema,
  },
  endBots: {
    route: "DELETE /sim/bots",
    summary: "End the bots and cancel the orders of all that ever acted",
    reply: exactly("EndedBots", {
      profile: profile.nullable().meta({ description: "Those that acted until now." }),
      canceled: field.count,
    }),
  },
});
