import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readOptions } from "./options.ts";

const DEFAULTS = { minutes: 10, clients: 32, rate: 300, seed: 1, out: null };

describe("the options of a soak", () => {
  it("are ten minutes with 32 clients where nothing is said", () => {
    expect(readOptions([])).toEqual(DEFAULTS);
  });

  it("are read in both ways of writing them", () => {
    const out = join(tmpdir(), "soak.json");
    const words = ["--minutes=0.5", "--clients", "8", "--rate", "50", "--seed=7", "--out", out];
    expect(readOptions(words)).toEqual({ minutes: 0.5, clients: 8, rate: 50, seed: 7, out });
  });

  it.each([
    ["--minutes 0", '--minutes expects a number from 0.1 to 1440, found "0"'],
    ["--minutes soon", '--minutes expects a number from 0.1 to 1440, found "soon"'],
    ["--minutes -5", '--minutes expects a number from 0.1 to 1440, found "-5"'],
    ["--minutes 1e2", '--minutes expects a number from 0.1 to 1440, found "1e2"'],
    ["--minutes", "--minutes expects a value, found none"],
    ["--clients 4", '--clients expects a whole number from 5 to 256, found "4"'],
    ["--clients 5.5", '--clients expects a whole number from 5 to 256, found "5.5"'],
    ["--rate 0", '--rate expects a whole number from 1 to 100000, found "0"'],
    ["--seed 4294967296", '--seed expects a whole number from 0 to 4294967295, found "4294967296"'],
    ["--seed 1 --seed 2", "expected --seed once, found it twice"],
    ["--hours 1", 'expected --minutes, --clients, --rate, --seed, --out, found "--hours"'],
    ["10", 'expected --minutes, --clients, --rate, --seed, --out, found "10"'],
    ["--out /no/such/folder/x", '--out expects a file in a folder that exists, found "/no/such/folder/x"'],
    ["--out=", '--out expects a file in a folder that exists, found ""'],
  ])("are refused in one line: %s", (line, message) => {
    expect(() => readOptions(line.split(" "))).toThrow(new Error(message));
  });

  it("cannot write the figures where a folder is", () => {
    expect(() => readOptions(["--out", tmpdir()])).toThrow("--out expects a file");
  });
});
