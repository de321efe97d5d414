import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { linesIn, withChecksums } from "./journal-lines.ts";
import { CODES, refuseAll, startSession } from "./refused-session.ts";
import { run, serve } from "./tools.ts";

const folder = temporaryFolder();

interface Refused {
  readonly code: string;
  readonly address: string;
  readonly asked: { readonly kind: string; readonly command?: { readonly tokenId?: string } };
}

const refusedIn = (file: string): Refused[] =>
  linesIn(readFileSync(file, "utf8"))
    .filter(({ k }) => k === "refused")
    .map(({ d }) => d as Refused);

/** Runs a session with refused requests, with a data directory or in memory. Returns its report, hash and secrets. */
async function runSession(data: string | null): Promise<{ file: string; hash: unknown; secrets: string[] }> {
  const server = await serve({ data });
  const session = await startSession(server.url);
  const before = await (await fetch(`${server.url}/sim/state/hash`)).json();
  expect(await refuseAll(session)).toEqual(CODES);
  const hash = await (await fetch(`${server.url}/sim/state/hash`)).json();
  expect(hash).toEqual(before);
  const closing = await fetch(`${server.url}/sim/markets/${session.market}/resolve`, resolution);
  const again = await fetch(`${server.url}/sim/markets/${session.market}/resolve`, resolution);
  expect([closing.status, again.status]).toEqual([200, 409]);
  const file = join(folder, `refused-${data === null ? "memory" : "directory"}.ndjson`);
  const { scenario } = (await (await fetch(`${server.url}/sim/scenario`)).json()) as { scenario: string };
  writeFileSync(`${file}.yaml`, scenario);
  expect((await run("report", [server.url], { out: file })).code).toBe(0);
  const { apiKey = "", secret = "", passphrase = "" } = session.alice.credentials ?? {};
  session.close();
  await server.close();
  return { file, hash, secrets: [apiKey, secret, passphrase, "a-secret-of-mine", "another-secret"] };
}

const resolution = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ winningOutcome: "YES" }),
};

describe.each([null, join(folder, "data")])("a session with refused requests, data directory %s", (data) => {
  it("has each in its report, without secrets, and each is refused again", async () => {
    const { file, secrets } = await runSession(data);
    expect(refusedIn(file).map(({ code }) => code)).toEqual([...CODES, "MARKET_CLOSED"]);
    const text = readFileSync(file, "utf8");
    for (const secret of secrets) expect(text).not.toContain(secret);
    const replayed = await run("replay", [file]);
    expect(replayed).toMatchObject({ code: 0, stderr: "" });
    expect(replayed.stdout).toContain(
      "11 refused requests: 8 refused again in the same way, 3 that cannot be retried",
    );
  });

  it("prints each as a line of clobsim journal", async () => {
    const file = join(folder, `refused-${data === null ? "memory" : "directory"}.ndjson`);
    const { stdout } = await run("journal", [file], { grep: "refused" });
    const shown = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(line.indexOf("Z") + 3).replace(/ {2,}/g, "  "));
    expect(shown).toMatchInlineSnapshot(`
      [
        "0x19e7e376  BUY 10 YES @ 0.0155 in will-the-series-the-gold-horde-be-renewed  → refused: INVALID_TICK_SIZE (price)",
        "0x19e7e376  BUY 1000000 YES @ 0.99 in will-the-series-the-gold-horde-be-renewed  → refused: INSUFFICIENT_BALANCE",
        "0x19e7e376  HOLD 10 YES @ 0.01 in will-the-series-the-gold-horde-be-renewed  → refused: INVALID_SIDE (side)",
        "0x19e7e376  BUY "10" YES @ 0.01 in will-the-series-the-gold-horde-be-renewed  → refused: INVALID_ORDER (size)",
        "0x19e7e376  BUY 10 YES @ 0.01 GTD until 1970-01-01T00:00:01.000Z in will-the-series-the-gold-horde-be-renewed  → refused: EXPIRATION_IN_PAST (expiration)",
        "0x19e7e376  POST /clob/order  → refused: INVALID_JSON",
        "0x19e7e376  POST /clob/order  → refused: INVALID_JSON",
        "0x1563915e  cancel order 178  → refused: ORDER_NOT_FOUND",
        "0x1563915e  cancel  → refused: ORDER_ID_REQUIRED",
        "  POST /clob/order  → refused: MISSING_AUTH_HEADER (poly_address)",
        "  resolve will-the-series-the-gold-horde-be-renewed as YES  → refused: MARKET_CLOSED",
      ]
    `);
  });

  it("is recorded as a scenario with the expected refusals, which passes", async () => {
    const file = join(folder, `refused-${data === null ? "memory" : "directory"}.ndjson`);
    const scenario = readFileSync(`${file}.yaml`, "utf8");
    expect((await run("record", [file])).stdout).toBe(scenario);
    const lines = scenario.split("\n").filter((line, index, all) => {
      const next = all[index + 1] ?? "";
      return /rejects:|# Refused/.test(line) || /rejects:/.test(next);
    });
    expect(lines.map((line) => line.trim())).toMatchInlineSnapshot(`
      [
        "- wallet-1: BUY 10 YES @ 0.0155",
        "rejects: INVALID_TICK_SIZE",
        "- wallet-1: BUY 1000000 YES @ 0.99",
        "rejects: INSUFFICIENT_BALANCE",
        "- wallet-1: HOLD 10 YES @ 0.01",
        "rejects: INVALID_SIDE",
        "# Refused with INVALID_ORDER, which no step can express: POST /clob/order of wallet-1.",
        "- wallet-1: BUY 10 YES @ 0.01 GTD 1970-01-01T00:00:01.000Z",
        "rejects: EXPIRATION_IN_PAST",
        "# Refused with INVALID_JSON, which no step can express: POST /clob/order of wallet-1.",
        "# Refused with INVALID_JSON, which no step can express: POST /clob/order of wallet-1.",
        "- wallet-2: cancel order-1",
        "rejects: ORDER_NOT_FOUND",
        "# Refused with ORDER_ID_REQUIRED, which no step can express: DELETE /clob/order of wallet-2.",
        "# Refused with MISSING_AUTH_HEADER, which no step can express: POST /clob/order.",
        "# Refused with MARKET_CLOSED, which no step can express: POST /sim/markets/will-the-series-the-gold-horde-be-renewed/resolve.",
      ]
    `);
    expect(await run("run", [`${file}.yaml`], { via: "process" })).toMatchObject({ code: 0 });
    expect(await run("run", [`${file}.yaml`], { via: "http" })).toMatchObject({ code: 0 });
  });

  it("is found by ids of the API", async () => {
    const file = join(folder, `refused-${data === null ? "memory" : "directory"}.ndjson`);
    const [first] = refusedIn(file);
    const { address = "", asked } = first ?? {};
    for (const id of [address, asked?.command?.tokenId ?? ""]) {
      const { stdout } = await run("journal", [file], { grep: `^${id}$` });
      expect(stdout).toContain("refused: INVALID_TICK_SIZE");
    }
  });
});

describe("a refused derivation of API keys", () => {
  it("is recorded with the address that it claims, and without its signature", async () => {
    const server = await serve({});
    const address = `0x${"aB".repeat(20)}`;
    const body = JSON.stringify({
      address,
      signature: `0x${"12".repeat(64)}1b`,
      timestamp: "1767225600",
      nonce: 0,
    });
    const headers = { "content-type": "application/json" };
    const path = "/clob/auth/derive-api-key";
    const { status } = await fetch(`${server.url}${path}`, { method: "POST", headers, body });
    const text = await (await fetch(`${server.url}/sim/report`)).text();
    await server.close();
    const note = linesIn(text).find(({ k }) => k === "refused")?.d;
    expect(note).toEqual({
      method: "POST",
      path,
      address: address.toLowerCase(),
      isProven: false,
      status,
      code: "INVALID_WALLET_SIGNATURE",
      field: null,
      asked: null,
    });
    expect(text).not.toContain("12121212");
  });
});

describe("clobsim replay", () => {
  it("reports a refused request that now has another answer", async () => {
    const { file } = await runSession(null);
    const lines = linesIn(readFileSync(file, "utf8")).map((line) => {
      const d = line.d as Refused;
      if (line.k !== "refused" || d.code !== "INVALID_TICK_SIZE") return line;
      return { ...line, d: { ...d, asked: { ...d.asked, command: { ...d.asked.command, price: 200 } } } };
    });
    const number = lines.findIndex(({ k }) => k === "refused") + 1;
    const other = join(folder, "other.ndjson");
    writeFileSync(other, withChecksums(lines));
    const replayed = await run("replay", [other]);
    expect(replayed.code).toBe(7);
    expect(replayed.stderr).toContain(
      `line ${number} of ${other}: refused with INVALID_TICK_SIZE then, accepted now\n  BUY 10 YES @ 0.02 in `,
    );
    expect(replayed.stdout).toContain("each has the recorded outcome");
  });
});

describe("the report of a failed scenario", () => {
  it("has the refused requests of steps and flows, in this process as over HTTP", async () => {
    writeFileSync(
      join(folder, "flow.csv"),
      [
        "at,account,op,ref,side,outcome,price,size,type",
        "0,alice,place,x,BUY,YES,0.5,100000,GTC",
        "0,bob,place,y,BUY,NO,0.4,10,GTC",
        "5,bob,cancel,unknown,,,,,",
        "6,bob,cancel,y,,,,,",
        "7,bob,cancel,y,,,,,",
      ].join("\n"),
    );
    const scenario = join(folder, "refusals.yaml");
    writeFileSync(
      scenario,
      `scenario: refusals
accounts: { alice: { USDC: 100 }, bob: { USDC: 100 } }
steps:
  - alice: BUY 1 YES @ 0.555
    rejects: INVALID_TICK_SIZE
  - alice: BUY 10 YES @ 0.5 as bid
  - bob: cancel bid
    rejects: ORDER_NOT_FOUND
  - replay: { file: flow.csv, rejected: 2 }
  - alice: BUY 1000 YES @ 0.5
`,
    );
    const refused: Refused[][] = [];
    for (const via of ["process", "http"]) {
      const reports = join(folder, `refusals-${via}`);
      expect((await run("run", [scenario], { via, report: reports })).code).toBe(1);
      const report = join(reports, "refusals.ndjson");
      refused.push(refusedIn(report));
      expect((await run("replay", [report])).stdout).toContain(
        "5 refused requests: 5 refused again in the same way",
      );
    }
    const [inProcess, overHttp] = refused;
    expect(inProcess?.map(({ code }) => code)).toEqual([
      ...["INVALID_TICK_SIZE", "ORDER_NOT_FOUND", "INSUFFICIENT_BALANCE", "ORDER_NOT_FOUND"],
      "INSUFFICIENT_BALANCE",
    ]);
    expect(inProcess).toEqual(overHttp);
  });
});
