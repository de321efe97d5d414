import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

/** Converts CSV to NDJSON. */
function ndjsonOf(csv: string): string {
  const [head = "", ...rows] = csv.trimEnd().split("\n");
  const names = head.split(",");
  const objectOf = (row: string): object =>
    Object.fromEntries(row.split(",").flatMap((cell, index) => (cell === "" ? [] : [[names[index], cell]])));
  return rows.map((row) => `${JSON.stringify(objectOf(row))}\n`).join("");
}

it.each([
  ["sound", 0, "12 rows: 6 placed, 2 canceled, 0 refused, 3 fills"],
  ["refused", 6, "9 rows: 2 placed, 0 canceled, 6 refused, 0 fills"],
])(
  "a replayed flow is the same from CSV and NDJSON, in this process and over HTTP: %s",
  async (name, rejected, told) => {
    const csv = readFileSync(join(import.meta.dirname, "flows", `${name}.csv`), "utf8");
    folder.write("flow.csv", csv);
    folder.write("flow.ndjson", ndjsonOf(csv));
    const seen = [];
    for (const via of ["process", "http"] as const) {
      for (const format of ["csv", "ndjson"]) {
        const { failure, transcript, stateHash } = await folder.run(
          `scenario: a flow is replayed
accounts: { alice: { USDC: 1 } }
steps:
  - advance: 5s
  - replay: { file: flow.${format}, rejected: ${rejected} }
  - alice: BUY 1 YES @ 0.10
`,
          { via },
        );
        expect(failure).toBeNull();
        expect(transcript[1]).toContain(` → ${told}`);
        seen.push({ transcript: transcript.map((line) => line.replace(".ndjson", ".csv")), stateHash });
      }
    }
    expect(seen).toEqual(Array(4).fill(seen[0]));
  },
);
