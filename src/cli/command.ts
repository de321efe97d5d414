import type { Given } from "../setting.ts";
import type { ExitCode } from "./exit-code.ts";

/** One flag of a command, as its help shows it. */
export interface Flag {
  /** The setting's name. */
  readonly name: string;
  /** Heading it stands under. */
  readonly group: string;
  readonly text: string;
  /** What holds without it, in words. */
  readonly otherwise?: string;
  /** Given without a value: `on` says yes by its name, `off` says no by `no-` before it. */
  readonly toggle?: "on" | "off";
}

/** One command: what its help says, and what it does. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** What is typed after the command's name besides options, such as `PATHS`; without it, nothing may be. */
  readonly takes?: string;
  /** Command lines without the program's name, each with what it is for. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** @throws UsageError or ConfigError when it cannot do what it was asked. */
  readonly run: (given: Given, words: readonly string[]) => Promise<ExitCode>;
}

/** What is typed for a flag, after `--`. */
export const wordOf = ({ name, toggle }: Flag): string => (toggle === "off" ? `no-${name}` : name);
