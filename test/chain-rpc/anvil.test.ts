import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import { type Api, startApi } from "../support/http.ts";
import { DIFFERENCES, differencesOf, type Found, isAt } from "./anvil/differences.ts";
import { type Running, startAnvil, testWith } from "./anvil/foundry.ts";
import { SCRIPT } from "./anvil/script.ts";
import { play, type Reply } from "./anvil/step.ts";
import { rpc } from "./rpc.ts";

const EMPTY_WORLD = fileURLToPath(new URL("./anvil/empty-world.json", import.meta.url));

async function resultOf(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const replies = await play(url, [{ title: method, body: () => JSON.stringify(rpc(method, params)) }]);
  return (replies.get(method) as Reply & { readonly body: { readonly result: unknown } }).body.result;
}

/** Returns the time of a node's first block, Unix milliseconds. */
async function firstBlockAt(url: string): Promise<number> {
  const block = await resultOf(url, "eth_getBlockByNumber", "earliest", false);
  return Number((block as { readonly timestamp: string }).timestamp) * 1000;
}

/** On a busy machine, anvil's clock starts seconds after its first block, and the seconds that it adds begin below zero. */
async function startAtFirstBlock(url: string): Promise<void> {
  const behind = (await resultOf(url, "evm_increaseTime", 0)) as number;
  await resultOf(url, "evm_increaseTime", -behind);
}

function compareWith(program: string): void {
  let anvil: Running;
  let api: Api;
  let found: ReadonlyMap<string, readonly Found[]>;

  beforeAll(async () => {
    anvil = await startAnvil(program);
    await startAtFirstBlock(anvil.url);
    const start = millis(await firstBlockAt(anvil.url));
    api = await startApi({ settlement: "manual", world: EMPTY_WORLD, start });
    const theirs = await play(anvil.url, SCRIPT);
    const ours = await play(`${api.server.url}/chain`, SCRIPT);
    found = new Map(
      SCRIPT.map(({ title }) => [
        title,
        differencesOf(title, theirs.get(title) as Reply, ours.get(title) as Reply),
      ]),
    );
  });
  afterAll(() => Promise.all([anvil?.close(), api?.close()]));

  it.each(SCRIPT.map(({ title }) => title))(
    "is answered as by anvil, except for listed differences: %s",
    (title) => {
      const unlisted = found
        .get(title)
        ?.filter(
          (place) =>
            !DIFFERENCES.some(({ at, are }) => at.some((one) => isAt(one, place.where)) && are(place)),
        );
      expect(unlisted).toEqual([]);
    },
  );

  it.each(DIFFERENCES.flatMap(({ at, why, are }) => at.map((pattern) => ({ pattern, why, are }))))(
    "still differs from anvil: $pattern, because $why",
    ({ pattern, are }) => {
      const places = [...found.values()].flat();
      expect(places.filter((place) => isAt(pattern, place.where) && are(place))).not.toEqual([]);
    },
  );
}

describe("a plain call of the chain", () => testWith("anvil", compareWith));
