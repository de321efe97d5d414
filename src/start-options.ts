import type { SETTINGS } from "./config.ts";
import type { OptionKinds, Setting, ValueOf } from "./setting.ts";

/** JavaScript type of a setting: its kind, else its words, else a text. */
type OptionOf<S extends Setting<unknown>> = S extends {
  readonly option: infer Kind extends keyof OptionKinds;
}
  ? OptionKinds[Kind]
  : NonNullable<ValueOf<S>> extends string
    ? NonNullable<ValueOf<S>>
    : string;

type Options = { readonly [Name in keyof typeof SETTINGS]?: OptionOf<(typeof SETTINGS)[Name]> };

/** The settings of `clobsim serve`. `bin/setup/published-types.ts` writes them out for the package, each with its help. */
export type StartOptions = Omit<Options, "clock"> & { readonly clock?: "real" | "frozen" | `${number}x` };
