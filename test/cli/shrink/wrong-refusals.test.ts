import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { orThrow } from "../../../src/client/result.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { sendOrder, startSession } from "../refused-session.ts";
import { refused, run, says, serve } from "../tools.ts";

/** A planted defect: orders of 13.37 shares are refused after their account has canceled an order. */
const defect = vi.hoisted(() => ({ isActive: true }));
vi.mock("../../../src/core/rules/rules.ts", async (original) => {
  const core = await original<typeof import("../../../src/core/rules/rules.ts")>();
  const decide: typeof core.decide = (state, stamped) => {
    const { command } = stamped;
    if (!defect.isActive || command.kind !== "placeOrder" || command.size !== 1337)
      return core.decide(state, stamped);
    const account = state.accountByAddress.get(command.address);
    const isCanceled = [...state.orders].some(
      (each) => each.account === account && each.status === "CANCELED",
    );
    if (!isCanceled) return core.decide(state, stamped);
    const { price } = command;
    return { ok: false, refusal: { code: "INVALID_TICK_SIZE", price, tickSize: price } };
  };
  return { ...core, decide };
});

const folder = temporaryFolder();
const report = join(folder, "bug.ndjson");
const several = join(folder, "several.ndjson");
const small = join(folder, "small.yaml");
const linesOf = (file: string, kind: string): number[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => (line.includes(`"k":"${kind}"`) ? [index + 1] : []));

beforeAll(async () => {
  const server = await serve({});
  const session = await startSession(server.url);
  const { alice, bob, tokenId, bid } = session;
  const valid = { tokenId, side: "BUY", price: 0.01, size: 20 } as const;
  orThrow(await bob.place(valid));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  orThrow(await alice.cancel(bid));
  orThrow(await alice.place(valid));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  expect(await sendOrder(alice, { ...valid, size: 13.37 })).toBe("INVALID_TICK_SIZE");
  orThrow(await bob.place(valid));
  await run("report", [server.url], { out: report });
  expect(await sendOrder(alice, { ...valid, side: "HOLD" })).toBe("INVALID_SIDE");
  expect(await sendOrder(bob, { ...valid, size: 0.5 })).toBe("SIZE_TOO_SMALL");
  await run("report", [server.url], { out: several });
  session.close();
  await server.close();
});

afterEach(() => {
  defect.isActive = true;
});

describe("clobsim shrink, with a report of a refused order", () => {
  it("writes a scenario of the few steps that lead to the refusal, which passes once the defect is fixed", async () => {
    const { code, stdout, stderr } = await run("shrink", [report], { out: small });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const text = readFileSync(small, "utf8");
    expect(text.slice(text.indexOf("steps:")).replace(/o\d+/g, "o1")).toBe(`steps:
  - wallet-1: BUY 10 YES @ 0.01 as o1
  - wallet-1: cancel o1
  - wallet-1: BUY 13.37 YES @ 0.01
`);
    expect(stderr).toMatch(/→ 3 steps\n.*wallet-1 is refused with INVALID_TICK_SIZE, unexpectedly\n/);
    expect(await run("run", [small])).toMatchObject({ code: 1 });
    defect.isActive = false;
    expect(await run("run", [small])).toMatchObject({ code: 0 });
    const [line] = linesOf(report, "refused");
    const differs = `line ${line} of ${report}: refused with INVALID_TICK_SIZE then, accepted now`;
    expect(await run("replay", [report])).toMatchObject({ code: 7, stderr: says(differs) });
    const message = `line ${line} of ${report} is not refused in this way: nothing was written`;
    expect(await run("shrink", [report], { refused: String(line) })).toEqual(refused(message, 1));
  });

  it("asks for a line if several requests were refused", async () => {
    // The second was refused when it was read, regardless of earlier commands.
    const lines = linesOf(several, "refused").filter((_line, index) => index !== 1);
    const asked = `--refused which request of the lines ${lines.join(", ")})`;
    expect(await run("shrink", [several])).toMatchObject({ code: 1, stderr: says(asked) });
    const out = join(folder, "third.yaml");
    expect((await run("shrink", [several], { refused: String(lines[1]), out })).code).toBe(0);
    const text = readFileSync(out, "utf8");
    expect(text.slice(text.indexOf("steps:"))).toBe("steps:\n  - wallet-2: BUY 0.5 YES @ 0.01\n");
  });

  it("refuses a request that was refused when it was read, and lines that are not refused requests", async () => {
    const [, second = 0] = linesOf(several, "refused");
    const shrunk = (line: number, flags = {}) =>
      run("shrink", [several], { refused: String(line), ...flags });
    const when =
      /^clobsim: line \d+ of .*, HOLD 20 YES @ 0\.01 in .*, refused with INVALID_SIDE: it was refused when it was read, .*\n$/;
    expect(await shrunk(second)).toEqual(refused(says(when)));
    const none = `--refused expects the line of a refused request, and line 2 of ${several} is not one`;
    expect(await shrunk(2)).toEqual(refused(none));
    const beyond = /^clobsim: --refused expects a line of .*, which has \d+, found 999\n$/;
    expect(await shrunk(999)).toEqual(refused(says(beyond)));
    for (const [flag, text] of [["at", "3"] as const, ["expect", "{ book: {} }"] as const]) {
      const message = `--refused names where it ends: --${flag} does not go with it`;
      expect(await shrunk(second, { [flag]: text })).toEqual(refused(message));
    }
    const scenario = `--refused goes with a report or a data directory, found ${small}`;
    expect(await run("shrink", [small], { refused: "3" })).toEqual(refused(scenario));
  });
});
