/** The error codes that are answered, after JSON-RPC 2.0, EIP-1474, EIP-1193 and what nodes say of reverted calls. */
export const RPC_CODES = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  SERVER_ERROR: -32000,
  RESOURCE_NOT_FOUND: -32001,
  TRANSACTION_REJECTED: -32003,
  LIMIT_EXCEEDED: -32005,
  UNAUTHORIZED: 4100,
  EXECUTION_REVERTED: 3,
} as const;

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
