import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OverHttp } from "../../../src/fuzz/http/session.ts";
import { httpProfile, profileLine, type ServerKind } from "../../../src/fuzz/http/traffic.ts";
import { bundleInto } from "../../support/bundled.ts";

const SETTINGS = { commands: 120 };

const folder = mkdtempSync(join(tmpdir(), "clobsim-over-http-"));
const program = join(folder, "cli.js");
beforeAll(() => bundleInto(folder, { cli: "src/cli/main.ts" }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The first seeds whose servers are of a kind. */
const seedsOf = (kind: ServerKind, count: number): number[] =>
  Array.from({ length: 400 }, (_, seed) => seed)
    .filter((seed) => httpProfile(seed).server === kind)
    .slice(0, count);

describe("seeds over HTTP", () => {
  it.each<[ServerKind, number]>([
    ["unkept", 8],
    ["kept", 3],
    ["killed", 3],
  ])("pass where the server is %s", async (kind, count) => {
    const runner = new OverHttp(program);
    for (const seed of seedsOf(kind, count)) {
      const profile = profileLine(httpProfile(seed));
      expect(await runner.run(seed, SETTINGS)).toEqual({ seed, profile, commands: 120, failure: null });
    }
  });

  it("need the built program where a server is killed, and say so", async () => {
    const [seed = 0] = seedsOf("killed", 1);
    await expect(new OverHttp(join(folder, "none.js")).run(seed, SETTINGS)).rejects.toThrow(
      /^a server that is killed needs the built program, and there is no .*none\.js: npm run build makes it$/,
    );
  });

  it("draw profiles that leave different things out", () => {
    const profiles = Array.from({ length: 200 }, (_, seed) => httpProfile(seed));
    const counts = (of: (profile: ReturnType<typeof httpProfile>) => unknown): number =>
      new Set(profiles.map(of)).size;
    expect(counts(({ server }) => server)).toBe(3);
    expect(counts(({ accounts }) => accounts)).toBe(5);
    expect(counts(({ clients }) => clients)).toBe(7);
    expect(counts(({ settlement, balances }) => `${settlement} ${balances}`)).toBe(6);
    expect(new Set(profiles.map(profileLine)).size).toBe(200);
  });
});
