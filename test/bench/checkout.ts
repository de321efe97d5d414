import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A file of the checkout; the tools run as one bundle each in its `dist-tools`. */
export const inCheckout = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Builds the program unless it is up to date. @throws Error when it cannot be built; the build has then said why. */
export async function buildProgram(): Promise<void> {
  const build = spawn(process.execPath, [inCheckout("bin/setup.js"), "build"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(build, "exit");
  if (code !== 0) throw new Error("the program could not be built");
}
