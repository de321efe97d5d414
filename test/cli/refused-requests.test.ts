import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { linesIn, withChecksums } from "./journal-lines.ts";
import { refuseAll, startSession } from "./refused-session.ts";
import { run, says, serve } from "./tools.ts";

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

/** Runs a session with refused requests, with a data directory or in memory. */
async function runSession(data: string | null) {
  const server = await serve({ data });
  const session = await startSession(server.url);
  const hashOf = async () => (await fetch(`${server.url}/sim/state/hash`)).json();
  const before = await hashOf();
  const refused = await refuseAll(session);
  const codes = refused.map(([expected]) => expected);
  expect(refused.map(([, code]) => code)).toEqual(codes);
  expect(await hashOf()).toEqual(before);
  for (const status of [200, 409]) {
    const body = JSON.stringify({ winningOutcome: "YES" });
    const headers = { "content-type": "application/json" };
    const resolving = `${server.url}/sim/markets/${session.market}/resolve`;
    expect((await fetch(resolving, { method: "POST", headers, body })).status).toBe(status);
  }
  const file = join(folder, `refused-${data === null ? "memory" : "directory"}.ndjson`);
  const { scenario } = (await (await fetch(`${server.url}/sim/scenario`)).json()) as { scenario: string };
  expect((await run("report", [server.url], { out: file })).code).toBe(0);
  const { apiKey = "", secret = "", passphrase = "" } = session.alice.credentials ?? {};
  session.close();
  await server.close();
  const secrets = [apiKey, secret, passphrase, "a-secret-of-mine", "another-secret"];
  return { file, scenario, secrets, codes: [...codes, "MARKET_CLOSED"] };
}

describe.each([null, join(folder, "data")])("a session with refused requests, data directory %s", (data) => {
  let session: Awaited<ReturnType<typeof runSession>>;
  beforeAll(async () => {
    session = await runSession(data);
  });

  it("has each in its report, without secrets, and each is refused again", async () => {
    const { file, secrets, codes } = session;
    expect(refusedIn(file).map(({ code }) => code)).toEqual(codes);
    const text = readFileSync(file, "utf8");
    for (const secret of secrets) expect(text).not.toContain(secret);
    const counts = "11 refused requests: 8 refused again in the same way, 3 that cannot be retried";
    expect(await run("replay", [file])).toEqual({ code: 0, stdout: says(counts), stderr: "" });
  });

  it("prints each as a line of clobsim journal", async () => {
    const { stdout } = await run("journal", [session.file], { grep: "refused" });
    const lines = stdout.trimEnd().split("\n");
    const shown = lines.map((line) => line.slice(line.indexOf("Z") + 3).replace(/ {2,}/g, "  "));
    expect(
      shown.join("\n").replaceAll("will-the-series-the-gold-horde-be-renewed", "SLUG"),
    ).toBe(`0x19e7e376  BUY 10 YES @ 0.0155 in SLUG  → refused: INVALID_TICK_SIZE (price)
0x19e7e376  BUY 1000000 YES @ 0.99 in SLUG  → refused: INSUFFICIENT_BALANCE
0x19e7e376  HOLD 10 YES @ 0.01 in SLUG  → refused: INVALID_SIDE (side)
0x19e7e376  BUY "10" YES @ 0.01 in SLUG  → refused: INVALID_ORDER (size)
0x19e7e376  BUY 10 YES @ 0.01 GTD until 1970-01-01T00:00:01.000Z in SLUG  → refused: EXPIRATION_IN_PAST (expiration)
0x19e7e376  POST /clob/order  → refused: INVALID_JSON
0x19e7e376  POST /clob/order  → refused: INVALID_JSON
0x1563915e  cancel order 178  → refused: ORDER_NOT_FOUND
0x1563915e  cancel  → refused: ORDER_ID_REQUIRED
  POST /clob/order  → refused: MISSING_AUTH_HEADER (poly_address)
  resolve SLUG as YES  → refused: MARKET_CLOSED`);
  });

  it("is recorded as a scenario with the expected refusals, which passes", async () => {
    const { file, scenario } = session;
    expect((await run("record", [file])).stdout).toBe(scenario);
    const lines = scenario.split("\n");
    const refused = lines.filter(
      (line, index) => /rejects:|# Refused/.test(line) || /rejects:/.test(lines[index + 1] ?? ""),
    );
    expect(refused.map((line) => line.trim()).join("\n")).toBe(`- wallet-1: BUY 10 YES @ 0.0155
rejects: INVALID_TICK_SIZE
- wallet-1: BUY 1000000 YES @ 0.99
rejects: INSUFFICIENT_BALANCE
- wallet-1: HOLD 10 YES @ 0.01
rejects: INVALID_SIDE
# Refused with INVALID_ORDER, which no step can express: POST /clob/order of wallet-1.
- wallet-1: BUY 10 YES @ 0.01 GTD 1970-01-01T00:00:01.000Z
rejects: EXPIRATION_IN_PAST
# Refused with INVALID_JSON, which no step can express: POST /clob/order of wallet-1.
# Refused with INVALID_JSON, which no step can express: POST /clob/order of wallet-1.
- wallet-2: cancel order-1
rejects: ORDER_NOT_FOUND
# Refused with ORDER_ID_REQUIRED, which no step can express: DELETE /clob/order of wallet-2.
# Refused with MISSING_AUTH_HEADER, which no step can express: POST /clob/order.
# Refused with MARKET_CLOSED, which no step can express: POST /sim/markets/will-the-series-the-gold-horde-be-renewed/resolve.`);
    writeFileSync(`${file}.yaml`, scenario);
    for (const via of ["process", "http"])
      expect(await run("run", [`${file}.yaml`], { via })).toMatchObject({ code: 0 });
  });

  it("is found by ids of the API", async () => {
    const [first] = refusedIn(session.file);
    for (const id of [first?.address, first?.asked.command?.tokenId]) {
      const { stdout } = await run("journal", [session.file], { grep: `^${id}$` });
      expect(stdout).toContain("refused: INVALID_TICK_SIZE");
    }
  });
});

describe("a refused derivation of API keys", () => {
  it("is recorded with the address that it claims, and without its signature", async () => {
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
    const counts = "7 refused again in the same way, 1 answered differently now, 3 that cannot be retried";
    expect(replayed.stdout).toContain(`11 refused requests: ${counts}`);
  });
});

describe("the report of a failed scenario", () => {
  it("has the refused requests of steps and flows, in this process as over HTTP", async () => {
    const flow = `at,account,op,ref,side,outcome,price,size,type
0,alice,place,x,BUY,YES,0.5,100000,GTC
0,bob,place,y,BUY,NO,0.4,10,GTC
5,bob,cancel,unknown,,,,,
6,bob,cancel,y,,,,,
7,bob,cancel,y,,,,,`;
    writeFileSync(join(folder, "flow.csv"), flow);
    const scenario = join(folder, "refusals.yaml");
    const text = `scenario: refusals
accounts: { alice: { USDC: 100 }, bob: { USDC: 100 } }
steps:
  - alice: BUY 1 YES @ 0.555
    rejects: INVALID_TICK_SIZE
  - alice: BUY 10 YES @ 0.5 as bid
  - bob: cancel bid
    rejects: ORDER_NOT_FOUND
  - replay: { file: flow.csv, rejected: 2 }
  - alice: BUY 1000 YES @ 0.5
`;
    writeFileSync(scenario, text);
    const refused: Refused[][] = [];
    for (const via of ["process", "http"]) {
      const reports = join(folder, `refusals-${via}`);
      expect((await run("run", [scenario], { via, report: reports })).code).toBe(1);
      const report = join(reports, "refusals.ndjson");
      refused.push(refusedIn(report));
      const counts = "5 refused requests: 5 refused again in the same way";
      expect((await run("replay", [report])).stdout).toContain(counts);
    }
    const [inProcess, overHttp] = refused;
    expect(inProcess?.map(({ code }) => code)).toEqual([
      ...["INVALID_TICK_SIZE", "ORDER_NOT_FOUND", "INSUFFICIENT_BALANCE", "ORDER_NOT_FOUND"],
      "INSUFFICIENT_BALANCE",
    ]);
    expect(inProcess).toEqual(overHttp);
  });
});
