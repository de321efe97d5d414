import { expect, it } from "vitest";
import type { Command } from "../../src/core/commands.ts";
import { curlText } from "../../src/inspector/copy.ts";

const commands: readonly (readonly [Command, string])[] = [
  [{ kind: "closeMarket", market: 7 }, "curl -X POST http://it/sim/markets/rain/close"],
  [
    { kind: "resolveMarket", market: 7, winningOutcome: "SPLIT" },
    `curl -X POST http://it/sim/markets/rain/resolve -H 'content-type: application/json' -d '{"winningOutcome":"SPLIT"}'`,
  ],
];

it.each(commands)("copies a command of a market as a curl request: %o", (command, text) => {
  const line = { line: { k: command.kind }, command } as never;
  const state = { markets: { find: (number: number) => (number === 7 ? { slug: "rain" } : undefined) } };
  expect(curlText(line, { state } as never, "http://it")?.replaceAll(" \\\n  ", " ")).toBe(text);
});
