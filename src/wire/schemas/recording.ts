import * as z from "zod";
import { count } from "./quantities.ts";
import { exactly } from "./registry.ts";

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
