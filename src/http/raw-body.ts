import { ApiError } from "../wire/errors.ts";
import type { Incoming } from "./exchange-message.ts";

/** The body of a request that sent none. */
export const NO_BODY = Buffer.alloc(0);

/** Whether a request announces a body. */
export const hasBody = ({ headers }: Incoming): boolean =>
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] !== undefined && headers["content-length"] !== "0");

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Refuses a body that cannot be what the API takes.
 * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` when it is compressed or not JSON in UTF-8.
 */
export function checkMediaType({ headers, rawHeaders }: Incoming): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw unsupported(`content-encoding ${JSON.stringify(encoding)}`, "send the body uncompressed");
  }
  const type = headers["content-type"];
  const isTwice =
    rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "content-type").length > 1;
  if (type === undefined || isTwice || !JSON_TYPE.test(type)) {
    const found =
      type === undefined ? "no content-type" : isTwice ? "two content-types" : JSON.stringify(type);
    throw unsupported(found, "send content-type: application/json");
  }
}

const unsupported = (found: string, hint: string): ApiError =>
  new ApiError("UNSUPPORTED_MEDIA_TYPE", `the body must be JSON in UTF-8, found ${found.slice(0, 200)}`, {
    hint,
  });

/**
 * Reads the bytes of a body, which are what is signed; `done` gets them, or the error `PAYLOAD_TOO_LARGE`.
 * Nobody is told when the client goes away before the end.
 */
export function readBody(
  request: Incoming,
  maximum: number,
  done: (error: ApiError | null, body: Buffer) => void,
): void {
  const tooLarge = (): ApiError =>
    new ApiError("PAYLOAD_TOO_LARGE", `the body is larger than ${maximum} bytes`, {
      details: { maximum },
      headers: { connection: "close" },
    });
  if (Number(request.headers["content-length"] ?? 0) > maximum) {
    request.resume();
    done(tooLarge(), NO_BODY);
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    if (length > maximum) return;
    length += chunk.length;
    if (length > maximum) done(tooLarge(), NO_BODY);
    else chunks.push(chunk);
  });
  request.on("end", () => {
    if (length > maximum) return;
    done(null, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
  });
}
