import type { Config } from "../config.ts";
import { WorldFileError } from "../world/world-checks.ts";
import { UsageError } from "./usage-error.ts";

/** The sentence for a server that cannot start because of its address or its world file; any other error as it is. */
export function startFailure(error: unknown, { host, port, worldFile }: Config): unknown {
  if (error instanceof WorldFileError) return new UsageError(`${worldFile}: ${error.message}`);
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (worldFile !== null && (syscall === "open" || syscall === "read")) {
    return new UsageError(`--world expects a file that can be read, found ${worldFile} (${code})`);
  }
  switch (code) {
    case "EADDRINUSE":
      return new UsageError(
        `port ${port} of ${host} is in use by another program: --port 0 takes any free one`,
      );
    case "EACCES":
      return new UsageError(
        `port ${port} of ${host} needs rights that you lack: --port expects one above 1023`,
      );
    case "EADDRNOTAVAIL":
    case "EAI_AGAIN":
    case "ENOTFOUND":
      return new UsageError(`--host expects an address of this machine, found ${host}`);
    default:
      return error;
  }
}
