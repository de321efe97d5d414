import type { SeedRunner } from "../outcome.ts";

/** Runs seeds over HTTP. */
export const overHttp: SeedRunner = {
  run: async (seed, { commands }) => ({ seed, profile: "empty", commands, failure: null }),
  write: async () => ({ scenario: null, report: null, remark: null }),
};
