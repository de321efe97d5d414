import { RPC_CODES } from "../api/chain-errors.ts";

/** A call that is answered with an error object. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** What else a client may want to read; undefined for nothing. */
  readonly data: unknown;

  constructor(code: keyof typeof RPC_CODES, message: string, data?: unknown) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}
