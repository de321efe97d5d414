import { type Given, readAll, readOne, type Setting } from "../setting.ts";
import { RUN_SETTINGS } from "./run-flags.ts";

type RunSettings = typeof RUN_SETTINGS;
type ValueOf<Name extends keyof RunSettings> = NonNullable<ReturnType<RunSettings[Name]["read"]>>;

/** What a command line asks for, read. */
export class RunRequest {
  readonly given: Given;
  readonly paths: readonly string[];

  constructor(given: Given, paths: readonly string[]) {
    this.given = given;
    this.paths = paths;
  }

  /** The value of a flag, or null. @throws ConfigError */
  one<Name extends keyof RunSettings>(name: Name): ValueOf<Name> | null {
    return readOne(name, RUN_SETTINGS[name] as Setting<ValueOf<Name>>, this.given);
  }

  /** Every value of a flag that may be given often. @throws ConfigError */
  all(name: "reporter"): string[] {
    return readAll(name, RUN_SETTINGS[name], this.given);
  }

  get environment(): Given["environment"] {
    return this.given.environment;
  }
}
