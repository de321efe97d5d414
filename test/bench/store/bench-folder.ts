import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inCheckout } from "../checkout.ts";

/** A folder on the disk of the checkout, which goes with this process. */
export function benchFolder(): string {
  const cache = inCheckout("node_modules/.cache/clobsim");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
