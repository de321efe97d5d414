import { ApiError } from "../api/errors.ts";
import { headerValues } from "./access.ts";
import type { Incoming } from "./service.ts";

/** Limit, in bytes, of a body on the control plane and of a call or batch on the chain, WebSocket messages included. */
export const MAX_LARGE_BODY = 1024 * 1024;

export const NO_BODY = Buffer.alloc(0);

/** Whether a body of unknown length follows; it may be empty. */
export const isChunked = ({ headers }: Incoming): boolean => headers["transfer-encoding"] !== undefined;

export const announcedLength = ({ headers }: Incoming): number => Number(headers["content-length"] ?? 0);

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Checks the headers of a body; without a content type it counts as JSON. Pages of foreign origins can send such a body
 * without a preflight. This is harmless, because the request needs a signature or is refused for its origin.
 * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` if the body is compressed or not JSON in UTF-8.
 */
export function checkMediaType({ headers, rawHeaders }: Incoming): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw unsupported(`content-encoding ${JSON.stringify(encoding)}`, "send the body uncompressed");
  }
  const type = headers["content-type"];
  if (type === undefined) return;
  const isTwice = headerValues(rawHeaders, "content-type").length > 1;
  if (isTwice || !(type === "application/json" || JSON_TYPE.test(type))) {
    throw unsupported(
      isTwice ? "two content-types" : JSON.stringify(type),
      "send content-type: application/json",
    );
  }
}

const unsupported = (found: string, hint: string): ApiError =>
  new ApiError("UNSUPPORTED_MEDIA_TYPE", `the body must be JSON in UTF-8, found ${found.slice(0, 200)}`, {
    hint,
  });

/** Bytes of a refused body that are read, so that the client can receive the answer, before the connection is closed. */
const MAX_DISCARDED = 16 * 1024 * 1024;

/**
 * Reads a body as raw bytes, because the signature covers them. Calls `done` with the bytes, or with the error
 * `PAYLOAD_TOO_LARGE` as soon as the limit is exceeded; never if the client disconnects before the end.
 */
export function readBody(
  request: Incoming,
  maximum: number,
  done: (error: ApiError | null, body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isRefused = false;
  const refuse = (): void => {
    isRefused = true;
    const message = `the body is larger than ${maximum} bytes`;
    done(new ApiError("PAYLOAD_TOO_LARGE", message, { details: { maximum } }), NO_BODY);
  };
  if (announcedLength(request) > maximum) refuse();
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (!isRefused && length <= maximum) chunks.push(chunk);
    else if (length > MAX_DISCARDED) request.destroy();
    else if (!isRefused) refuse();
  });
  request.on("end", () => {
    if (isRefused) return;
    done(null, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
  });
}
