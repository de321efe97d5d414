import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { FOLDER, openNew, openOn, withoutLock } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const STATE = `${FOLDER}/db.json`;
let image: DiskImage = new Map();
let text = "";
let hash = "";

beforeAll(async () => {
  const { disk, opened, exchange } = await openNew();
  takeSteps(opened, 12);
  hash = stateHashes(exchange);
  await opened.close();
  image = withoutLock(disk.image);
  text = Buffer.from(image.get(STATE) ?? []).toString("utf8");
});

const withState = (changed: string): DiskImage => new Map([...image, [STATE, Buffer.from(changed)]]);

/** Returns the files with a changed header of the state, whose SHA-256 is correct. */
function withHeader(change: (header: Record<string, unknown>) => unknown): DiskImage {
  const [first = "", second = "", ...rest] = text.split("\n");
  const header = JSON.parse(second.slice('"clobsim":'.length, -1)) as Record<string, unknown>;
  const changed = `"clobsim":${JSON.stringify(change(header))},`;
  const content = [first, changed, ...rest].join("\n").replace(/"sha256":"[0-9a-f]+"\n}\n$/, "");
  const sha256 = createHash("sha256").update(content).digest("hex");
  return withState(`${content}"sha256":"${sha256}"\n}\n`);
}

const FIELDS = "engine line check offset sequence now digest devAccounts clock durability".split(" ");

describe("a state file with a correct checksum and a wrong header", () => {
  it.each(FIELDS)("is not used if its %s is invalid: the journal is replayed", async (field) => {
    for (const wrong of [null, -1, 1.5, "", " ", [[]], {}, undefined]) {
      if (field === "digest" && (wrong === null || wrong === undefined)) continue;
      const warnings: string[] = [];
      const disk = new SimulatedDisk(withHeader((header) => ({ ...header, [field]: wrong })));
      const { exchange } = await openOn(disk, {}, warnings);
      expect(stateHashes(exchange)).toBe(hash);
      expect(warnings.join(), JSON.stringify(wrong)).toMatch(
        new RegExp(`db\\.json: clobsim\\.${field}\\b.*: expected .*, found `),
      );
    }
  });

  it.each<[unknown]>([[null], [7], [[]], [{ format: 7 }], [{ format: "other/1" }]])(
    "is not used if it is %j",
    async (header) => {
      const warnings: string[] = [];
      await openOn(new SimulatedDisk(withHeader(() => header)), {}, warnings);
      expect(warnings).toEqual([expect.stringContaining("db.json has no header")]);
    },
  );

  it("is not used without a digest, as earlier versions wrote it: the journal is replayed", async () => {
    const disk = new SimulatedDisk(withHeader(({ digest: _, ...header }) => header));
    const { exchange, folder, close } = await openOn(disk);
    expect(folder?.resumed?.warnings).toEqual([]);
    expect(folder?.resumed?.commands).toBeGreaterThan(0);
    expect(stateHashes(exchange)).toBe(hash);
    await close();
    const again = await openOn(new SimulatedDisk(withoutLock(disk.image)));
    expect(again.folder?.resumed?.commands).toBe(0);
    expect(stateHashes(again.exchange)).toBe(hash);
  });

  it("is refused if a newer version wrote it", async () => {
    const disk = new SimulatedDisk(withHeader((header) => ({ ...header, format: "clobsim-state/2" })));
    await expect(openOn(disk)).rejects.toMatchObject({ name: "DataFileError", problem: "newer" });
  });
});

it.each<[what: string, change: (text: string) => string, why: string]>([
  [
    "edited",
    (text) => text.replace('"devAccounts":[', '"devAccounts": ['),
    `was changed: its SHA-256 does not match its content (clobsim serve --world ${STATE} --data NEW opens it as it is)`,
  ],
  ["emptied", () => "", "is empty"],
  [
    "cut",
    (text) => text.slice(0, 20),
    'was changed or cut: line 2, clobsim: expected JSON, found "{\\"format"',
  ],
  [
    "replaced by null",
    () => "null",
    'was changed or cut: line 1: expected a field, `"name":value`, after a comma, found "null"',
  ],
])(
  "a state file that its owner has changed and %s is ignored with a warning that says so",
  async (_what, change, why) => {
    const warnings: string[] = [];
    const { exchange } = await openOn(new SimulatedDisk(withState(change(text))), {}, warnings);
    expect(stateHashes(exchange)).toBe(hash);
    expect(warnings).toEqual([`${STATE} ${why}; it is ignored, and the state comes from the journal`]);
  },
);
