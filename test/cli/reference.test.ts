import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SUBCOMMANDS, type Subcommand } from "../../src/cli/commands.ts";
import { SETTINGS } from "../../src/config.ts";
import { defaultText, flagOf, type Setting, type Settings, variableOf, wordOf } from "../../src/setting.ts";
import { code, paddedTable } from "../support/markdown.ts";

const pageAt = (name: string): URL => new URL(`../../docs/reference/${name}`, import.meta.url);
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

const shownDefault = (setting: Setting<unknown>): string => {
  const text = defaultText(setting);
  return text === undefined ? "" : text === setting.default ? code(text) : cell(text);
};

const expectedOf = ({ expected, toggle }: Setting<unknown>): string =>
  toggle === undefined ? cell(expected) : "none";

const settings: readonly [string, Setting<unknown>][] = Object.entries(SETTINGS);

const configurationSections = (): string[] =>
  [...new Set(settings.map(([, { group }]) => group))].flatMap((title) => [
    `## ${title.replace(":", "")}`,
    "",
    ...paddedTable([
      ["flag", "variable", "`startExchange` option", "default", "meaning", "value"],
      ...settings
        .filter(([, { group }]) => group === title)
        .map(([key, setting]) => [
          code(`--${wordOf(key, setting)}`),
          code(variableOf(flagOf(key))),
          code(key),
          shownDefault(setting),
          cell(setting.help),
          expectedOf(setting),
        ]),
    ]),
    "",
  ]);

function flagsTable(settings: Settings): string[] {
  const rows = Object.entries(settings).map(([key, setting]) => [
    code(`--${wordOf(key, setting)}`),
    shownDefault(setting),
    cell(setting.help),
    expectedOf(setting),
  ]);
  return rows.length === 0 ? [] : [...paddedTable([["flag", "default", "meaning", "value"], ...rows]), ""];
}

const commandSections = (): string[] =>
  Object.entries<Subcommand>(SUBCOMMANDS).flatMap(([name, { summary, args, settings, examples }]) => [
    `## clobsim ${name}`,
    "",
    summary,
    "",
    "```",
    `clobsim ${name}${args === undefined ? "" : ` ${args.usage}`} [options]`,
    "```",
    "",
    ...(name === "serve"
      ? ["Its options are the settings in [configuration.md](configuration.md).", ""]
      : flagsTable(settings)),
    ...paddedTable([
      ["example", "what it does"],
      ...examples.map(([line, purpose]) => [code(`clobsim ${line}`), cell(purpose)]),
    ]),
    "",
  ]);

describe("the reference", () => {
  it.each([
    ["configuration.md", configurationSections],
    ["cli.md", commandSections],
  ])("page %s has sections generated from the settings behind its introduction", async (name, sections) => {
    const [introduction] = readFileSync(pageAt(name), "utf8").split(/^(?=## )/m);
    const page = introduction + sections().join("\n");
    await expect(page).toMatchFileSnapshot(fileURLToPath(pageAt(name)));
  });

  it("has only defaults that their settings accept", () => {
    for (const { settings } of Object.values<Subcommand>(SUBCOMMANDS)) {
      for (const [key, { default: text, read }] of Object.entries(settings)) {
        if (text !== undefined) expect(read(text), key).not.toBe(null);
      }
    }
  });
});
