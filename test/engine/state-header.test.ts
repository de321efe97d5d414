import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { FOLDER, openOn, withoutLock } from "./support/kept.ts";
import { takeStep } from "./support/short-history.ts";

const STATE = `${FOLDER}/db.json`;
let image: DiskImage = new Map();
let hash = "";

beforeAll(async () => {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk);
  for (let step = 0; step < 12; step += 1) takeStep(opened, step);
  hash = stateHashes(opened.exchange);
  await opened.close();
  image = withoutLock(disk.image);
});

/** The files with another header in the state, whose SHA-256 is right again. */
function withHeader(change: (header: Record<string, unknown>) => unknown): DiskImage {
  const text = Buffer.from(image.get(STATE) ?? []).toString("utf8");
  const [first = "", second = "", ...rest] = text.split("\n");
  const header = JSON.parse(second.slice('"clobsim":'.length, -1)) as Record<string, unknown>;
  const changed = `"clobsim":${JSON.stringify(change(header))},`;
  const content = [first, changed, ...rest].join("\n").replace(/"sha256":"[0-9a-f]+"\n}\n$/, "");
  const seal = createHash("sha256").update(content).digest("hex");
  return new Map([...image, [STATE, Buffer.from(`${content}"sha256":"${seal}"\n}\n`)]]);
}

const FIELDS = "engine line check offset sequence now digest devAccounts clock durability".split(" ");

describe("a state whose checksum is right and whose header is not", () => {
  it.each(FIELDS)(
    "is not used where its %s is not what it says: the journal leads to the same",
    async (field) => {
      for (const wrong of [null, -1, 1.5, "", " ", [[]], {}, undefined]) {
        if (field === "digest" && (wrong === null || wrong === undefined)) continue;
        const said: string[] = [];
        const disk = new SimulatedDisk(withHeader((header) => ({ ...header, [field]: wrong })));
        const opened = await openOn(disk, {}, said).catch((error: unknown) => error);
        // Whatever a text may be is a version; it says then that it is of no newer one.
        if (field === "engine" && wrong === "x") continue;
        if (opened instanceof Error) throw opened;
        const { exchange, close } = opened as Awaited<ReturnType<typeof openOn>>;
        expect(stateHashes(exchange)).toBe(hash);
        expect(said.join(), JSON.stringify(wrong)).toMatch(
          new RegExp(`db\\.json: clobsim\\.${field}\\b.*: expected .*, found `),
        );
        await close();
      }
    },
  );

  it.each<[unknown]>([[null], [7], [[]], [{ format: 7 }], [{ format: "other/1" }]])(
    "is not used where it is %j",
    async (header) => {
      const said: string[] = [];
      const opened = await openOn(new SimulatedDisk(withHeader(() => header)), {}, said);
      expect(said).toEqual([expect.stringContaining("db.json has no header")]);
      await opened.close();
    },
  );

  it("is not used without a digest, as earlier versions wrote it: the journal tells the history", async () => {
    const disk = new SimulatedDisk(withHeader(({ digest: _, ...header }) => header));
    const { exchange, folder, close } = await openOn(disk);
    expect(folder?.resumed?.warnings).toEqual([]);
    expect(folder?.resumed?.commands).toBeGreaterThan(0);
    expect(stateHashes(exchange)).toBe(hash);
    await close();
    const again = await openOn(new SimulatedDisk(withoutLock(disk.image)));
    expect(again.folder?.resumed?.commands).toBe(0);
    expect(stateHashes(again.exchange)).toBe(hash);
    await again.close();
  });

  it("is refused where a newer version has written it", async () => {
    const disk = new SimulatedDisk(withHeader((header) => ({ ...header, format: "clobsim-state/2" })));
    await expect(openOn(disk)).rejects.toMatchObject({ name: "StoreError", problem: "newer" });
  });
});
