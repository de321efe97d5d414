import * as z from "zod";
import { count } from "./quantities.ts";
import { exactly, named } from "./registry.ts";

export const recordedScenario = exactly(
  "RecordedScenario",
  {
    name: z.string(),
    scenario: z.string().meta({ description: "A scenario file, YAML, that passes." }),
    orders: count,
    trades: count,
  },
  "What was done since the exchange was opened, with what came of it.",
);

export const sessionReport = named(
  "Report",
  z.string(),
  "A journal, a JSON object a line: how the exchange was opened, every command with a hash of what it caused, and the hash of the state. `clobsim replay FILE` replays it.",
);
