import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useApi } from "../support/http.ts";

const api = useApi({ clock: { mode: "frozen" } });

it("the example of the typed client runs with the name of the package", async () => {
  const program = ["fixtures/examples/typed-client.js", api.server.url];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  const [question, ...lines] = stdout.trimEnd().split("\n");
  expect(question).toMatch(/^.+\? {2}[\d.]+ \| [\d.]+, mid [\d.]+$/);
  expect(lines).toEqual([
    expect.stringMatching(/^resting {2}LIVE 100 @ [\d.]+$/),
    expect.stringMatching(
      /^refused {2}INSUFFICIENT_BALANCE - the order needs [\d.]+ USDC, available: [\d.]+$/,
    ),
    "canceled 1",
  ]);
});
