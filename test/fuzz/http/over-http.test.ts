import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { httpRunner } from "../../../src/fuzz/http/session.ts";
import { type HttpProfile, profileOf, profileText, type ServerKind } from "../../../src/fuzz/http/traffic.ts";
import { buildProgram } from "../../support/bundled.ts";
import { temporaryFolder } from "../../support/folder.ts";

const COMMANDS = 120;

const folder = temporaryFolder();
const program = await buildProgram();

/** Returns the first seeds with a kind of server. */
const seedsOf = (kind: ServerKind, count: number): number[] =>
  Array.from({ length: 400 }, (_, seed) => seed)
    .filter((seed) => profileOf(seed).server === kind)
    .slice(0, count);

describe("seeds over HTTP", () => {
  it.each<[ServerKind, number]>([
    ["memory", 8],
    ["persistent", 3],
    ["killed", 3],
  ])("pass with the server: %s", async (kind, count) => {
    const runner = httpRunner(program);
    for (const seed of seedsOf(kind, count)) {
      const profile = profileText(profileOf(seed));
      expect(await runner.run(seed, COMMANDS)).toEqual({ seed, profile, commands: COMMANDS, failure: null });
    }
  });

  it("need the built program to kill a server, and say so", async () => {
    const [seed = 0] = seedsOf("killed", 1);
    await expect(httpRunner(join(folder, "none.js")).run(seed, COMMANDS)).rejects.toThrow(
      /^a server that is killed needs the built program, and .*none\.js does not exist: run npm run build$/,
    );
  });

  it("draw different profiles", () => {
    const profiles = Array.from({ length: 200 }, (_, seed) => profileOf(seed));
    const distinct = (of: (profile: HttpProfile) => unknown): number => new Set(profiles.map(of)).size;
    expect(distinct(({ server }) => server)).toBe(3);
    expect(distinct(({ accounts }) => accounts)).toBe(5);
    expect(distinct(({ clients }) => clients)).toBe(7);
    expect(distinct(({ settlement, balances }) => `${settlement} ${balances}`)).toBe(6);
    expect(new Set(profiles.map(profileText)).size).toBe(200);
  });
});
