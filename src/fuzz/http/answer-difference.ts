import type { Reply } from "./answer-again.ts";
import { firstDifference, pathKey } from "./difference.ts";
import { answerName } from "./finding.ts";
import type { Observation } from "./observation.ts";

/** How an answer differs from what it should be; null where it does not, or where there is none. */
export function answerDifference(
  seen: Observation,
  reply: Reply,
): { readonly fingerprint: string; readonly sentence: string } | null {
  const { answer, request } = seen;
  if (answer === null || (answer.status === reply.status && answer.body === reply.body)) return null;
  const { operation } = request;
  const [was, is] = [statusName(answer), statusName(reply)];
  if (was !== is) {
    return {
      fingerprint: `another status: ${operation} ${was}, again ${is}`,
      sentence: `${answerName(seen)} (${was}), made again there it is ${is}`,
    };
  }
  const { path, expected, found } = firstDifference(reply.body, answer.body);
  return {
    fingerprint: `another answer: ${operation} ${was}: ${pathKey(path)}`,
    sentence: `${answerName(seen)}; made again there, ${path || "its body"} is ${expected}, found ${found}`,
  };
}

/** A status with the error code of its body: `400 INVALID_SIZE`. */
export function statusName({ status, body }: Reply): string {
  const code = status === 200 ? undefined : /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}
