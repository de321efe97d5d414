import { cpSync, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { writeSourceFiles } from "../../src/scenario/run/files.ts";
import { VERSION } from "../../src/version.ts";
import { TestFolder } from "../support/folder.ts";
import { linesIn, withChecksums } from "./journal-lines.ts";
import { refuseAll, sendOrder, startSession } from "./refused-session.ts";
import { Shell } from "./shell.ts";
import { runLine, serve, traderOn } from "./tools.ts";

/** Planted defects: orders of 13.37 shares throw; those of 13.38 are refused after their account has canceled an order. */
const defect = vi.hoisted(() => ({ isActive: true }));
vi.mock("../../src/core/rules/rules.ts", async (original) => {
  const core = await original<typeof import("../../src/core/rules/rules.ts")>();
  const decide: typeof core.decide = (state, stamped) => {
    const { command } = stamped;
    if (!defect.isActive || command.kind !== "placeOrder") return core.decide(state, stamped);
    if (command.size === 1337) throw new Error("boom");
    const account = state.accountByAddress.get(command.address);
    const isCanceled = [...state.orders].some(
      (each) => each.account === account && each.status === "CANCELED",
    );
    if (command.size !== 1338 || !isCanceled) return core.decide(state, stamped);
    const { price } = command;
    return { ok: false, refusal: { code: "INVALID_TICK_SIZE", price, tickSize: price } };
  };
  return { ...core, decide };
});

const folder = new TestFolder();
cpSync(join(import.meta.dirname, "failing-scenarios"), folder.path, { recursive: true });
/** Returns the refused requests of a report as JSON. */
const refusedIn = (name: string): string =>
  JSON.stringify(linesIn(folder.read(name)).flatMap(({ k, d }) => (k === "refused" ? [d] : [])));
const shell = new Shell(folder, {
  ls: (name = "") => readdirSync(folder.at(name)).join("\n"),
  mode: (name = "") => (statSync(folder.at(name)).mode & 0o777).toString(8),
  move: (from = "", to = "") => void renameSync(folder.at(from), folder.at(to)),
  remove: (name = "") => void rmSync(folder.at(name), { recursive: true }),
  "same-refusals": (one = "", other = "") => (refusedIn(one) === refusedIn(other) ? "yes" : "no"),
  fix: () => void Object.assign(defect, { isActive: false }),
  break: () => void Object.assign(defect, { isActive: true }),
});
shell.names.set("VERSION", VERSION).set("NODE", process.version.slice(1));

/** Writes a report of a server. */
const report = async (url: string, out: string): Promise<void> =>
  expect((await runLine(["report", url, "--out", out], folder.path)).code).toBe(0) as undefined;

/** A defect of a server, and wrong refusals. */
beforeAll(async () => {
  const server = await serve({ report: folder.at("defects") });
  const place = await traderOn(server.url);
  expect(await place(13.37)).toMatchObject({ ok: false, error: { code: "INTERNAL_ERROR" } });
  await server.close();
});
beforeAll(async () => {
  const server = await serve({});
  const { alice, bob, tokenId, bid, close } = await startSession(server.url);
  const valid = { tokenId, side: "BUY", price: 0.01, size: 20 } as const;
  orThrow(await bob.place(valid));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  orThrow(await alice.cancel(bid));
  orThrow(await alice.place(valid));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  expect(await sendOrder(alice, { ...valid, size: 13.38 })).toBe("INVALID_TICK_SIZE");
  orThrow(await bob.place(valid));
  await report(server.url, "bug.ndjson");
  expect(await sendOrder(alice, { ...valid, side: "HOLD" })).toBe("INVALID_SIDE");
  expect(await sendOrder(bob, { ...valid, size: 0.5 })).toBe("SIZE_TOO_SMALL");
  await report(server.url, "several.ndjson");
  orThrow(await alice.place({ ...valid, size: 999_980 }));
  expect(await sendOrder(alice, valid)).toBe("INSUFFICIENT_BALANCE");
  await report(server.url, "spent.ndjson");
  close();
  await server.close();
});

/** Runs a session with refused requests, with a data directory or in memory, and writes its report, which has no secret. */
async function refuse(data: string | null, out: string) {
  const server = await serve({ data: data === null ? null : folder.at(data) });
  const session = await startSession(server.url);
  const hashOf = async () => (await fetch(`${server.url}/sim/state/hash`)).json();
  const before = await hashOf();
  const refused = await refuseAll(session);
  expect(refused.map(([, code]) => code)).toEqual(refused.map(([expected]) => expected));
  expect(await hashOf()).toEqual(before);
  for (const status of [200, 409]) {
    const body = JSON.stringify({ winningOutcome: "YES" });
    const headers = { "content-type": "application/json" };
    const resolving = `${server.url}/sim/markets/${session.market}/resolve`;
    expect((await fetch(resolving, { method: "POST", headers, body })).status).toBe(status);
  }
  await report(server.url, out);
  const { apiKey = "", secret = "", passphrase = "", address = "" } = session.alice.credentials ?? {};
  for (const text of [apiKey, secret, passphrase, "a-secret-of-mine", "another-secret"])
    expect(folder.read(out)).not.toContain(text);
  shell.names.set("ALICE", address.toLowerCase()).set("YES-TOKEN", session.tokenId);
  shell.names.set("SLUG", session.market);
  session.close();
  await server.close();
}
beforeAll(async () => {
  await refuse(null, "refused.ndjson");
  await refuse("data", "persisted.ndjson");
  const lines = linesIn(folder.read("refused.ndjson")).map((line) => {
    const d = line.d as { readonly code: string; readonly asked: { readonly command: object } };
    if (line.k !== "refused" || d.code !== "INVALID_TICK_SIZE") return line;
    return { ...line, d: { ...d, asked: { ...d.asked, command: { ...d.asked.command, price: 200 } } } };
  });
  folder.write("changed.ndjson", withChecksums(lines));
});

it("reports of defects, refused requests and failed scenarios are read as their page shows", async () => {
  await shell.expectPage(join(import.meta.dirname, "reports.txt"));
});

it("a refused derivation of API keys is recorded with the address that it claims, and without its signature", async () => {
  const server = await serve({});
  const address = `0x${"aB".repeat(20)}`;
  const signature = `0x${"12".repeat(64)}1b`;
  const [method, path] = ["POST", "/clob/auth/derive-api-key"];
  const body = JSON.stringify({ address, signature, timestamp: "1767225600", nonce: 0 });
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${server.url}${path}`, { method, headers, body });
  const text = await (await fetch(`${server.url}/sim/report`)).text();
  await server.close();
  expect(linesIn(text).find(({ k }) => k === "refused")?.d).toEqual({
    ...{ method, path, address: address.toLowerCase(), isProven: false, asked: null },
    ...{ status, code: "INVALID_WALLET_SIGNATURE", field: null },
  });
  expect(text).not.toContain("12121212");
});

it.each(["../out.yaml", "/etc/x", "a/../../b", ".", ""])(
  "a file of a scenario with the path %j, outside its folder, is not written",
  (name) => {
    const inside = folder.at("inside");
    expect(() => writeSourceFiles({ file: "a.yaml", texts: { [name]: "a" } }, inside)).toThrow(RangeError);
    expect(existsSync(inside)).toBe(false);
  },
);
