import { didYouMean } from "../../api/nearest.ts";
import { githubReporter } from "./github.ts";
import { jsonReporter } from "./json.ts";
import { junitReporter } from "./junit.ts";
import { type MakeReporter, REPORTER_NAMES } from "./reporter.ts";
import { SpecReporter } from "./spec.ts";
import { tapReporter } from "./tap.ts";

export type ReporterName = (typeof REPORTER_NAMES)[number];

const MAKERS: Readonly<Record<ReporterName, MakeReporter>> = {
  spec: (options) => new SpecReporter(options),
  json: jsonReporter,
  junit: junitReporter,
  tap: tapReporter,
  github: githubReporter,
};

export class ReporterError extends Error {
  override readonly name = "ReporterError";
}

const isName = (name: string): name is ReporterName => REPORTER_NAMES.some((known) => known === name);

function nameOf(name: string): ReporterName {
  if (isName(name)) return name;
  const hint = didYouMean(name, REPORTER_NAMES) || `, expected one of ${REPORTER_NAMES.join(", ")}`;
  throw new ReporterError(`unknown reporter ${JSON.stringify(name)}${hint}`);
}

/** @throws ReporterError with the nearest name, or all names. */
export const reporterOf = (name: string): MakeReporter => MAKERS[nameOf(name)];

export interface ReporterArgument {
  readonly name: ReporterName;
  /** Null for standard output. */
  readonly file: string | null;
}

/** Parses `junit` or `junit=out.xml`. @throws ReporterError */
export function parseReporterArgument(argument: string): ReporterArgument {
  const at = argument.indexOf("=");
  if (at < 0) return { name: nameOf(argument), file: null };
  const name = nameOf(argument.slice(0, at));
  const file = argument.slice(at + 1);
  if (file === "")
    throw new ReporterError(`expected ${name}=FILE or ${name}, found ${JSON.stringify(argument)}`);
  return { name, file };
}
