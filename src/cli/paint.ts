import colours from "picocolors";
import type { Paint } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";

/**
 * How words on a stream, stdout unless told otherwise, are emphasised: in colour on a terminal or where FORCE_COLOR asks
 * for it, never where NO_COLOR forbids it (no-color.org).
 */
export function paintOf(
  environment: Given["environment"],
  stream: NodeJS.WriteStream = process.stdout,
): Paint {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const isTerminal = stream.isTTY === true && environment.TERM !== "dumb";
  const isColoured = !isSet("NO_COLOR") && (isTerminal || isSet("FORCE_COLOR"));
  const { red, green, yellow, dim, bold } = colours.createColors(isColoured);
  return { red, green, yellow, dim, bold };
}
