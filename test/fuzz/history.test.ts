import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Command } from "../../src/core/commands.ts";
import { numberOf } from "../../src/core/ids.ts";
import type { Decision } from "../../src/core/refusals.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import type { SessionLog } from "../../src/engine/journal.ts";
import { ACTIONS, profileOf, profileText } from "../../src/fuzz/generator.ts";
import { type OpenExchange, SeedHistory } from "../../src/fuzz/history.ts";
import { findsCanary, inProcess, writeFailure } from "../../src/fuzz/in-process.ts";
import { run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";

const folder = temporaryFolder();

/** An exchange on which anyone can cancel any order: the command is changed to that of the owner. */
class CancelsAnyOrder extends Exchange {
  override submit(command: Command): Decision {
    if (command.kind !== "cancelOrder") return super.submit(command);
    const { orders, idPrefixes, accounts } = this.state;
    const order = orders.find(numberOf(idPrefixes.order, command.orderId));
    const owner = order === undefined ? command.address : accounts.get(order.account).address;
    return super.submit({ ...command, address: owner });
  }
}
const cancelsAnyOrder: OpenExchange = (...terms) => new CancelsAnyOrder(...terms);

/** Returns the first seed with a history in memory that fails. */
async function firstFailing(open: OpenExchange, commands: number): Promise<number> {
  for (let seed = 0; ; seed += 1) {
    const history = await SeedHistory.open(seed, open);
    if (history.profile.storage === "memory" && (await history.run(commands)) !== null) return seed;
  }
}

describe("the history of a seed", () => {
  it("is the same every time", async () => {
    for (const seed of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const [one, two] = [await SeedHistory.open(seed), await SeedHistory.open(seed)];
      expect(await one.run(120)).toBe(null);
      expect(await two.run(120)).toBe(null);
      expect(two.exchange.hash).toBe(one.exchange.hash);
    }
  });

  it("begins with the history of fewer commands", async () => {
    const [short, long] = [await SeedHistory.open(11), await SeedHistory.open(11)];
    await short.run(60);
    await long.run(120);
    const [commands, more] = [short, long].map(({ host }) =>
      ((host.record as SessionLog).entries ?? []).map(({ command }) => command),
    ) as [Command[], Command[]];
    expect(commands.length).toBeGreaterThan(30);
    expect(more.slice(0, commands.length)).toEqual(commands);
  });

  it.each([0, 40, 80])("passes all checks: 40 seeds from %i on", async (first) => {
    for (let seed = first; seed < first + 40; seed += 1) {
      const { failure } = await inProcess.run(seed, 150);
      expect([seed, failure]).toEqual([seed, null]);
    }
  });
});

describe("profiles", () => {
  const profiles = Array.from({ length: 400 }, (_, seed) => profileOf(seed));

  it.each(ACTIONS)("leave out %s sometimes", (action) => {
    const without = profiles.filter(({ weights }) => weights[action] === 0);
    expect(without.length).toBeGreaterThan(50);
    expect(without.length).toBeLessThan(390);
  });

  it("are described in one line", () => {
    expect(profileText(profileOf(3))).toMatchInlineSnapshot(
      `"4 accounts, tick 0.1 fee 0 complementary cancel-both, auto/settled, GTC GTD FOK FAK, without cancelAll fund mine fault reopen approve replace steer, in memory"`,
    );
  });
});

describe("a defect", () => {
  it("planted as a self-test is found", async () => {
    expect(await findsCanary()).toBe(true);
  });

  it("gives the same failure every time, and is written as a report and a scenario that fails in the same way", async () => {
    const seed = await firstFailing(cancelsAnyOrder, 300);
    const again = await (await SeedHistory.open(seed, cancelsAnyOrder)).run(300);
    expect(again?.fingerprint).toMatch(/^differs from the reference: /);
    const files = await writeFailure(seed, 300, folder, "any-cancel", cancelsAnyOrder);
    expect(files).toEqual({
      scenario: join(folder, "any-cancel.yaml"),
      report: join(folder, "any-cancel.ndjson"),
      remark: null,
    });
    expect(readFileSync(join(folder, "any-cancel.yaml"), "utf8")).toContain("cancel o");
    const replayed = await run("replay", [join(folder, "any-cancel.ndjson")]);
    expect(replayed.code).toBe(0);
  });

  it("without files if the seed passes when it is run again", async () => {
    expect(await writeFailure(0, 50, folder, "none")).toEqual({
      scenario: null,
      report: null,
      remark: "run again, the seed does not fail",
    });
  });
});
