import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

const PAGE = new URL("wrong-files.txt", import.meta.url);
const CASE = /^## (.*)\n```yaml ?(\w*)\n([\s\S]*?)^```\n((?:> .*\n)*)/gm;
const FRAMES = { "": "", steps: ofSteps(), markets: ofTwoMarkets() };

const told = (text: string): string[] => problemsOf(text).map((problem) => problem.replace("x.yaml:", ""));

it("every file is told what is wrong with it, and where", async () => {
  const page = readFileSync(PAGE, "utf8").replace(
    CASE,
    (_whole, title: string, frame: keyof typeof FRAMES, text: string) => {
      const problems = told(`${FRAMES[frame]}${text}`).map((problem) => `> ${problem}\n`);
      return `## ${title}\n\`\`\`yaml${frame && ` ${frame}`}\n${text}\`\`\`\n${problems.join("")}`;
    },
  );
  await expect(page).toMatchFileSnapshot("wrong-files.txt");
});

it("no file on the page is right", () => {
  const cases = [...readFileSync(PAGE, "utf8").matchAll(CASE)];
  expect(cases.length).toBeGreaterThan(290);
  expect(cases.filter(([, , , , problems]) => problems === "").map(([, title]) => title)).toEqual([]);
});

it.each([
  ["nothing", "", "1:1: expected a scenario, a mapping, found nothing"],
  [
    "a tab",
    "scenario: x\nsteps:\n\t- advance: 1s\n",
    "3:1: not YAML: tabs are not allowed as indentation (indent with spaces)",
  ],
  [
    "a control character",
    "scenario: x\nseed: a\0b\n",
    "2:8: expected text, found the control character U+0000",
  ],
])("a file of %s is told what is wrong with it", (_title, text, problem) => {
  expect(told(text)).toEqual([problem]);
});
