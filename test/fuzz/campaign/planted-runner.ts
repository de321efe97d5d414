// Replaces src/fuzz/in-process.ts by a runner whose seeds fail in known ways.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Failure, SeedRunner } from "../../../src/fuzz/seeds.ts";

/** Seeds that end or block their thread. */
const FATAL: Readonly<Record<number, () => unknown>> = {
  1001: () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
  1002: () => Promise.reject(new TypeError("order 12 of account 7 is undefined")),
  1003: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(4_000_000).fill(kept.length));
  },
  1004: () => process.exit(3),
  1005: () => {
    setImmediate(() => {
      throw new TypeError("order 99 of account 1 is undefined");
    });
    return new Promise(() => {});
  },
  2000: () => {
    process.stdout.write("seed 2000 runs\n");
    return new Promise(() => {});
  },
};

function failureOf(seed: number): Failure | null {
  if (seed % 17 === 5) {
    const sentence = `account ${seed % 7} has -${seed} USDC`;
    return { fingerprint: "a balance is below zero", sentence, command: 7 };
  }
  if (seed % 41 === 11) {
    return { fingerprint: "the reference answers otherwise", sentence: `order ${seed} is LIVE`, command: 30 };
  }
  return null;
}

export const inProcess: SeedRunner = {
  run: async (seed, commands) => {
    await FATAL[seed]?.();
    const failure = failureOf(seed);
    return { seed, profile: `${seed % 3} accounts`, commands: failure?.command ?? commands, failure };
  },
  write: async ({ seed, failure }, _commands, folder, name) => {
    const path = (ending: string): string => join(folder, `${name}.${ending}`);
    writeFileSync(path("yaml"), `scenario: ${failure?.fingerprint}\n`);
    if (seed % 2 === 1) return { scenario: path("yaml"), report: null, remark: "no report of an odd seed" };
    writeFileSync(path("ndjson"), "{}\n");
    return { scenario: path("yaml"), report: path("ndjson"), remark: null };
  },
};

/** Whether the defect planted to test the fuzzer is found, which a variable of the environment decides. */
export const findsCanary = async (): Promise<boolean> => {
  const { CANARY = "found" } = process.env;
  if (CANARY === "throws") throw new Error("no canary");
  return CANARY === "found";
};
