import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, type StartOptions, startExchange } from "../src/index.ts";

const tiny = { world: "fixtures/worlds/tiny.json", clock: "frozen" } as const;

async function read<Body>(url: string, path: string): Promise<Body> {
  return (await (await fetch(url + path)).json()) as Body;
}

describe("startExchange", () => {
  it("starts exchanges side by side that agree and do not share", async () => {
    const [one, other] = await Promise.all([startExchange(tiny), startExchange(tiny)]);
    const hashOf = async ({ url }: typeof one): Promise<string> =>
      (await read<{ hash: string }>(url, "/sim/state/hash")).hash;
    const opened = await hashOf(one);
    expect(await hashOf(other)).toBe(opened);
    await fetch(`${one.url}/sim/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"title":"Only here"}',
    });
    expect(await hashOf(one)).not.toBe(opened);
    expect(await hashOf(other)).toBe(opened);
    await Promise.all([one.close(), other.close()]);
  });

  it("keeps what is done where it is told to, and goes on from there", async () => {
    const folder = mkdtempSync(join(tmpdir(), "clobsim-"));
    try {
      const options = { ...tiny, data: join(folder, "kept") };
      const first = await startExchange(options);
      await fetch(`${first.url}/sim/events`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"title":"Kept"}',
      });
      const { hash } = await read<{ hash: string }>(first.url, "/sim/state/hash");
      await first.close();
      const second = await startExchange(options);
      expect(await read(second.url, "/sim/state/hash")).toMatchObject({ hash });
      await second.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each<[string, object, string]>([
    ["a name that is none", { sed: 7 }, "unknown option sed, did you mean seed?"],
    ["a name in two words", { allowHosts: "a" }, "unknown option allowHosts, did you mean allowHost?"],
    ["a value that is none", { clock: "fast" }, "--clock expects real, frozen or a rate"],
  ])("refuses %s", async (_what, options, message) => {
    const refused = startExchange(options as StartOptions);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(message);
  });
});

describe("POST /sim/reset", () => {
  it("brings a clock that was moved back to the system's time", async () => {
    const { url, close } = await startExchange({ world: tiny.world });
    const post = (path: string, body: object): Promise<Response> =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await post("/sim/clock", { mode: "scaled", rate: 600, advance: "2h" });
    await post("/sim/reset", {});
    const { mode, rate, unixTime } = await read<{ mode: string; rate: number; unixTime: number }>(
      url,
      "/sim/clock",
    );
    expect([mode, rate]).toEqual(["real", 1]);
    expect(Math.abs(unixTime - Date.now() / 1000)).toBeLessThan(60);
    await close();
  });
});
