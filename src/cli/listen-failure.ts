import type { Config } from "../config.ts";
import { UsageError } from "./usage-error.ts";

/** The sentence for an address that cannot be listened on; any other error as it is. */
export function listenFailure(error: unknown, { host, port }: Config): unknown {
  const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
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
