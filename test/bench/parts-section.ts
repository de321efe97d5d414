import { Bench } from "tinybench";
import { checkSignedRequest } from "../../src/api/authentication.ts";
import { marketDetail } from "../../src/api/markets.ts";
import { bookReply } from "../../src/api/order-book.ts";
import { orderBody } from "../../src/api/order-request.ts";
import { readJsonObject } from "../../src/api/request-body.ts";
import { HmacKey, sign } from "../../src/api/signing.ts";
import { serviceOf } from "../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config.ts";
import { unitsOf } from "../../src/core/format.ts";
import { FROZEN_START } from "../../src/core/units.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { openAtOrigin } from "../../src/engine/open-exchange.ts";
import { exchangeConfigOf, originOfWorld } from "../../src/engine/origin.ts";
import { viewOf } from "../../src/server/service.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import type { Section } from "./rounds.ts";

const TIME_MS = 200;

/** Cost of each part of a request alone, to find the cause of a slower request. */
export const partsSection: Section = {
  name: "parts",
  about: "what the parts of a request cost, each alone",
  unit: "microseconds",
  baseline: null,
  most: 1,
  async measure() {
    const bench = new Bench({ time: TIME_MS, warmupTime: TIME_MS / 4 });
    for (const [name, part] of Object.entries(await parts())) bench.add(name, part);
    const toMicros = (ms: number): number => ms * 1000;
    const measurements = (await bench.run()).map(({ name, result }) => {
      if (!("latency" in result)) throw new Error(`${name} did not run: ${result.state}`);
      const { p50, min, p99 } = result.latency;
      const figures = { median: toMicros(p50), lowest: toMicros(min), highest: toMicros(p99) };
      return { workload: name, subject: "clobsim", ...figures, ratio: null };
    });
    const notes = [
      "Median, fastest and 99th percentile of single calls, by tinybench; no peer, so no ratio.",
    ];
    return { measurements, notes };
  },
};

async function parts(): Promise<Record<string, () => unknown>> {
  const world = await generateWorld({ seed: "1" });
  const config: Config = { ...DEFAULT_CONFIG, clock: { mode: "frozen" }, logLevel: "silent" };
  const origin = originOfWorld(world, exchangeConfigOf(config, world.seed), FROZEN_START);
  const service = serviceOf(config, openAtOrigin(config, origin));
  const view = viewOf(service);
  const market = view.state.markets.get(1);
  const secret = "5".repeat(64);
  const credentials = { address: `0x${"a".repeat(40)}`, secret, passphrase: secret };
  const key = new HmacKey(Buffer.from(secret));
  const body = Buffer.from(
    JSON.stringify({ tokenId: market.tokenIds[0], side: "BUY", price: 0.55, size: 10 }),
  );
  const timestamp = "1767225600";
  const request = {
    method: "POST",
    path: "/order",
    url: "/clob/order",
    rawHeaders: [],
    headers: {
      poly_address: credentials.address,
      poly_api_key: "key",
      poly_passphrase: secret,
      poly_timestamp: timestamp,
      poly_signature: sign(secret, `${timestamp}POST/order${body}`),
    },
    body,
  };
  return {
    "read a decimal": () => unitsOf(0.5525, 4),
    "read the body of an order": () => orderBody.read(readJsonObject(body)),
    "check a signed request": () =>
      checkSignedRequest(request, () => ({ ...credentials, key }), Number(timestamp)),
    "write a book": () => JSON.stringify(bookReply(view, market, "YES")),
    "write a market with its event": () => JSON.stringify(marketDetail(view, market)),
    "search two words": () => service.search.search(view.state, "will end"),
    "hash the whole state": () => contentHash(view.state),
  };
}
