import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { publishedTypes } from "../../bin/setup/published-types.ts";
import { compileProject } from "../support/bundled.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Kept for the next run, which then compiles only what has changed. */
const folder = join(ROOT, "node_modules", ".cache", "published-types");

/** Compiles only if the published types equal the types inferred from the schemas. */
const CHECK = `
import type { BodyAt } from "../../../src/api/endpoints.ts";
import type * as inferred from "../../../src/client/api-messages.ts";
import type * as inferredCalls from "../../../src/client/control-calls.ts";
import type { StartOptions as InferredOptions } from "../../../src/start-options.ts";
import type * as published from "./client/api-messages.js";
import type * as publishedCalls from "./client/control-calls.js";
import type { StartOptions } from "./start-options.js";

/** The type of a message parsed from JSON. */
type Message<T> = T extends readonly (infer Item)[]
  ? readonly Message<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Message<Exclude<T[Key], undefined>> }
    : T;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Keys with different messages in two tables. */
type Differing<One, Other extends { readonly [Key in keyof One]: unknown }> = {
  [Key in keyof One]: Same<Message<One[Key]>, Message<Other[Key]>> extends true ? never : Key;
}[keyof One];
interface Bodies {
  "POST /clob/order": published.OrderBody;
  "POST /sim/clock": published.NewClock;
  "POST /sim/accounts/{address}/fund": published.Funding;
  "POST /sim/events": published.NewEvent;
  "POST /sim/markets": published.NewMarket;
  "POST /sim/markets/{idOrSlug}/resolve": published.Resolution;
  "POST /sim/explain-auth": published.PastedRequest;
  "POST /sim/chain/faults": published.NewSettlementFault;
  "POST /sim/faults": published.NewFault;
}
type Nothing<T extends never> = T;

export type Checked = [
  Nothing<Exclude<keyof published.Replies, keyof inferred.Replies>>,
  Nothing<Differing<inferred.Replies, published.Replies>>,
  Nothing<Differing<Bodies, { readonly [R in keyof Bodies]: BodyAt<R> }>>,
  Nothing<Differing<{ it: published.ErrorCode }, { it: inferred.ErrorCode }>>,
  Nothing<Differing<Required<StartOptions>, Required<InferredOptions>>>,
  Nothing<Differing<{ it: keyof StartOptions }, { it: keyof InferredOptions }>>,
${[
  "PageWindow",
  "EventFilter",
  "HistoryRange",
  "MarketFilter",
  "MarketTradeFilter",
  "OrderFilter",
  "TradeFilter",
]
  .map((filter) => `  Nothing<Differing<{ it: published.${filter} }, { it: inferred.${filter} }>>,`)
  .join("\n")}
${["ControlCalls", "ChainCalls"]
  .map(
    (calls) =>
      `  Nothing<Differing<{ it: keyof publishedCalls.${calls} }, { it: keyof inferredCalls.${calls} }>>,`,
  )
  .join("\n")}
];
`;

it("the types of the sources can be declared, and the published ones equal those inferred from schemas and settings", async () => {
  // As source files, so that the compiler checks them too.
  mkdirSync(join(folder, "client"), { recursive: true });
  for (const [path, text] of Object.entries(publishedTypes()))
    writeFileSync(join(folder, path.replace(".d.ts", ".ts")), text);
  writeFileSync(
    join(folder, "client", "result.ts"),
    "export type Result<Value> = { readonly value: Value };",
  );
  writeFileSync(join(folder, "check.ts"), CHECK);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.json",
      // Without the types of a browser, which only the inspector may use.
      compilerOptions: {
        declaration: true,
        lib: ["es2023"],
        incremental: true,
        tsBuildInfoFile: "known.tsbuildinfo",
      },
      include: ["check.ts", "../../../src/**/*.ts"],
      exclude: ["../../../src/inspector"],
    }),
  );
  expect(await compileProject(folder)).toBe("");
});
