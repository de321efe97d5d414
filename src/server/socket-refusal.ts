import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, errorBody } from "../api/errors.ts";
import { simHeaders } from "./send.ts";
import type { Service } from "./service.ts";

/** Request line and headers together, in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;
/** How long a client that was refused may take to hang up. */
const HANG_UP_MS = 500;

/** Answers what never became a request: too large, too slow, or no HTTP at all. */
export function refuseOnSocket(
  service: Service,
  requestId: string,
  error: NodeJS.ErrnoException,
  socket: Duplex,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = socketError(error, service.options.requestTimeoutMs);
  const body = JSON.stringify(errorBody(known, requestId));
  const pairs = [
    ...simHeaders(service, requestId),
    "content-type",
    "application/json; charset=utf-8",
    "content-length",
    String(Buffer.byteLength(body)),
    "connection",
    "close",
  ];
  const lines = [`HTTP/1.1 ${known.status} ${STATUS_CODES[known.status]}`];
  for (let at = 0; at < pairs.length; at += 2) lines.push(`${pairs[at]}: ${pairs[at + 1]}`);
  socket.end([...lines, "", body].join("\r\n"));
  setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
  service.log.request({ requestId, method: "-", path: "-", status: known.status, ms: 0, code: known.code });
}

function socketError(error: NodeJS.ErrnoException, timeoutMs: number): ApiError {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new ApiError(
        "HEADERS_TOO_LARGE",
        `request line and headers are larger than ${MAX_HEADER_SIZE} bytes`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("REQUEST_TIMEOUT", `the request was not complete within ${timeoutMs} ms`);
    default:
      return new ApiError("INVALID_HTTP", "what was sent is not a valid HTTP/1.1 request");
  }
}
