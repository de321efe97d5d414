import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIOME = fileURLToPath(new URL("../../node_modules/@biomejs/biome/bin/biome", import.meta.url));

/** Generated TypeScript as the formatter would leave it in the file at `path`. */
export const laidOut = (text: string, path: string): string =>
  execFileSync(process.execPath, [BIOME, "check", "--write", `--stdin-file-path=${path}`], {
    input: text,
    encoding: "utf8",
  });
