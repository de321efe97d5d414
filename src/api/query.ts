import { ApiError } from "./errors.ts";
import type { Params, Read, Warn } from "./params.ts";

/**
 * Reads the query string of a target against what an endpoint takes; `onUnknown` is called with the names that it does
 * not know, before any value is read.
 * @throws ApiError `INVALID_PARAMETER` when a parameter is given twice, or as the parameter itself says.
 */
export function readQuery<P extends Params>(
  params: P,
  target: string,
  onUnknown: (names: readonly string[]) => void,
  warn: Warn,
): Read<P> {
  const start = target.indexOf("?");
  const given = new Map<string, string>();
  const unknown: string[] = [];
  let twice: string | undefined;
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(target.slice(start + 1))) {
      if (!Object.hasOwn(params, name)) {
        unknown.push(name);
      } else if (given.has(name)) {
        twice ??= name;
      } else {
        given.set(name, value);
      }
    }
  }
  if (unknown.length > 0) onUnknown(unknown);
  if (twice !== undefined) {
    throw new ApiError("INVALID_PARAMETER", `${twice} is given twice in the query`, {
      details: { parameter: twice },
    });
  }
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(params)) values[name] = params[name]?.read(given.get(name), name, warn);
  return values as Read<P>;
}
