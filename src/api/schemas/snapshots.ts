import * as z from "zod";
import { count, moment, page, stateDigest } from "./quantities.ts";
import { exactly, named } from "./registry.ts";

export const newSnapshot = named(
  "NewSnapshot",
  z.object({
    name: z
      .string()
      .min(1)
      .max(100)
      .regex(/^(?!snapshot-[0-9]+$)/, "expected a name that no id has")
      .optional()
      .meta({
        description: "Another name for it than its id; of several with one name the latest is meant.",
      }),
  }),
);

export const snapshot = exactly("Snapshot", {
  id: z.string().regex(/^snapshot-[1-9][0-9]*$/),
  name: z.string().nullable(),
  sequence: count,
  time: moment,
  hash: stateDigest,
});
export const snapshotPage = page("SnapshotPage", snapshot);
