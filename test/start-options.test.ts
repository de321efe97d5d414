import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, it } from "vitest";
import { SETTINGS } from "../src/config.ts";
import type { OptionKinds, Setting, Settings, ValueOf } from "../src/setting.ts";
import type { StartOptions } from "../src/start-options.ts";

const FILE = fileURLToPath(new URL("../src/start-options.ts", import.meta.url));
const BIOME = fileURLToPath(new URL("../node_modules/@biomejs/biome/bin/biome", import.meta.url));

const KINDS: Readonly<Record<keyof OptionKinds, string>> = {
  number: "number",
  truth: "boolean",
  textOrNumber: "string | number",
  texts: "string | readonly string[]",
};

function typeOf(name: string, { option, words }: Setting<unknown>): string {
  if (name === "clock") return `"real" | "frozen" | \`\${number}x\``;
  return option === undefined
    ? (words?.map((word) => JSON.stringify(word)).join(" | ") ?? "string")
    : KINDS[option];
}

const helpOf = ({ help, toggle }: Setting<unknown>): string =>
  toggle === "off" ? `False: ${help[0]?.toLowerCase()}${help.slice(1)}` : help;

const fields = Object.entries<Setting<unknown>>(SETTINGS satisfies Settings).map(
  ([name, setting]) => `/** ${helpOf(setting)}. */\nreadonly ${name}?: ${typeOf(name, setting)};\n`,
);
const text = `// Generated from SETTINGS of src/config.ts by \`npx vitest run test/start-options.test.ts -u\`.

/**
 * The settings of \`clobsim serve\`, as docs/reference/configuration.md explains them. Three defaults differ: \`port\` is 0
 * (any free port), \`logLevel\` is silent, and nothing is written to disk unless \`data\` names a directory.
 */
export interface StartOptions {
${fields.join("")}}
`;

it("the options of the library are the settings of the server", async () => {
  const args = [BIOME, "check", "--write", `--stdin-file-path=${FILE}`];
  const formatted = execFileSync(process.execPath, args, { input: text, encoding: "utf8" });
  await expect(formatted).toMatchFileSnapshot(FILE);
});

/** Returns the words of a setting if it has some, else its JavaScript type. */
type OptionOf<S extends Setting<unknown>> = S extends {
  readonly option: infer Kind extends keyof OptionKinds;
}
  ? OptionKinds[Kind]
  : NonNullable<ValueOf<S>> extends string
    ? NonNullable<ValueOf<S>>
    : string;

it("the options of the library have the types of the settings", () => {
  type Options = { readonly [Name in keyof typeof SETTINGS]?: OptionOf<(typeof SETTINGS)[Name]> };
  expectTypeOf<Omit<StartOptions, "clock">>().toEqualTypeOf<Omit<Options, "clock">>();
  expectTypeOf<NonNullable<StartOptions["clock"]>>().toEqualTypeOf<"real" | "frozen" | `${number}x`>();
});
