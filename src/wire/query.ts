import { ApiError } from "./errors.ts";
import type { Params, Read } from "./params.ts";

/**
 * Reads the query string of a target against what an endpoint takes.
 * @throws ApiError `INVALID_PARAMETER` when a parameter is given twice, or as the parameter itself says.
 */
export function readQuery<P extends Params>(
  params: P,
  target: string,
): { readonly values: Read<P>; readonly unknown: readonly string[] } {
  const start = target.indexOf("?");
  const given = new Map<string, string>();
  const unknown: string[] = [];
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(target.slice(start + 1))) {
      if (!Object.hasOwn(params, name)) {
        unknown.push(name);
      } else if (given.has(name)) {
        throw new ApiError("INVALID_PARAMETER", `${name} is given twice in the query`, {
          details: { parameter: name },
        });
      } else {
        given.set(name, value);
      }
    }
  }
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(params)) values[name] = params[name]?.read(given.get(name), name);
  return { values: values as Read<P>, unknown };
}
