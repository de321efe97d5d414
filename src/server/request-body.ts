import { ApiError } from "../api/errors.ts";
import type { Incoming } from "./service.ts";

/** Bytes of a body on the control plane and the chain, whose calls and batches come over WebSocket, too. */
export const MAX_LARGE_BODY = 1024 * 1024;

export const NO_BODY = Buffer.alloc(0);

/** Whether a body of unknown length comes, which may yet be empty. */
export const isChunked = ({ headers }: Incoming): boolean => headers["transfer-encoding"] !== undefined;

export const announcedLength = ({ headers }: Incoming): number => Number(headers["content-length"] ?? 0);

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Refuses a body that cannot be what the API takes; one without a content type is taken for JSON. That a page of a
 * foreign origin can send one unasked is harmless: it needs a signature, or is refused for its origin.
 * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` when it is compressed or not JSON in UTF-8.
 */
export function checkMediaType({ headers, rawHeaders }: Incoming): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw unsupported(`content-encoding ${JSON.stringify(encoding)}`, "send the body uncompressed");
  }
  const type = headers["content-type"];
  if (type === undefined) return;
  const isTwice = isSentTwice(rawHeaders, "content-type");
  if (isTwice || !(type === "application/json" || JSON_TYPE.test(type))) {
    throw unsupported(
      isTwice ? "two content-types" : JSON.stringify(type),
      "send content-type: application/json",
    );
  }
}

function isSentTwice(rawHeaders: readonly string[], header: string): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count > 1;
}

const unsupported = (found: string, hint: string): ApiError =>
  new ApiError("UNSUPPORTED_MEDIA_TYPE", `the body must be JSON in UTF-8, found ${found.slice(0, 200)}`, {
    hint,
  });

/** How much of a refused body is read to its end, so that the client hears the answer, before the line is cut. */
const MAX_DISCARDED = 16 * 1024 * 1024;

/**
 * Reads the bytes of a body, which are what is signed; `done` gets them, or the error `PAYLOAD_TOO_LARGE` as soon as
 * that is certain. Nobody is told when the client goes away before the end.
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
