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

/** Returns the time of a node's first block, Unix milliseconds. */
async function firstBlockAt(url: string): Promise<number> {
  const body = () => JSON.stringify(rpc("eth_getBlockByNumber", ["earliest", false]));
  const { body: answer } = (await play(url, [{ title: "first", body }])).get("first") as Reply;
  return Number((answer as { readonly result: { readonly timestamp: string } }).result.timestamp) * 1000;
}

function compareWith(program: string): void {
  let anvil: Running;
  let api: Api;
  let found: ReadonlyMap<string, readonly Found[]>;

  beforeAll(async () => {
    anvil = await startAnvil(program);
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
