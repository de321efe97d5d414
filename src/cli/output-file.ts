import { writeFile } from "node:fs/promises";
import type { Setting } from "../setting.ts";
import { UsageError } from "./usage-error.ts";

/** The value of `--out`. */
export const OUT: Setting<string> = {
  expected: "the path of a file to write",
  read: (text) => text || null,
};

/** Writes what `--out` names. @throws UsageError when it cannot be written. */
export async function save(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
    throw new UsageError(`--out expects a file that can be written, found ${path} (${code})`);
  }
}
