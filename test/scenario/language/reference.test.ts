import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { BOT_PROFILES } from "../../../src/bots/profiles.ts";
import {
  EXPECTATIONS,
  expectationInfo,
  OWN_EXPECTATIONS,
} from "../../../src/scenario/language/expectations.ts";
import { STEPS, STRUCTURE } from "../../../src/scenario/language/steps.ts";
import { TestFolder } from "../../support/folder.ts";
import { table } from "../../support/markdown.ts";
import {
  DESCRIBED_EXPECTATIONS,
  DESCRIBED_STEPS,
  type Description,
  INTRODUCTION,
  PAGE,
} from "./descriptions.ts";
import { ofSteps, problemsOf, scenarioOf } from "./scenario-texts.ts";

const root = new TestFolder();
const folder = root.path;
root.write("_quotes.yaml", "- bob: BUY 1 YES @ 0.45\n");
root.write("morning.csv", "at,account,op,ref,side,outcome,price,size,type\n0,dora,fund,,,USDC,,100,\n");

const examplesIn = ({ form }: Description): string[] =>
  [...form.matchAll(/`([^`]+)`/g)].map(([, example = ""]) => example);

/** Keys that may accompany a step, and what it needs. */
function columnsOf(kind: keyof typeof DESCRIBED_STEPS): string[] {
  if (kind === "include" || kind === "repeat") return ["", ""];
  const { isOverHttp, control, beside = {} } = STEPS[kind];
  const isControl = control === undefined || typeof control === "string";
  const keys = Object.keys(beside).map((key) => `\`${key}\``);
  return [keys.join(", "), isOverHttp ? "HTTP" : isControl ? "control plane" : ""];
}

const isControl = (kind: string): boolean =>
  kind in EXPECTATIONS && expectationInfo(kind as keyof typeof EXPECTATIONS).isControl === true;

const page = (): string =>
  [
    `${INTRODUCTION}## Steps`,
    "",
    table(
      ["step", "does", "beside it", "needs"],
      Object.entries(DESCRIBED_STEPS).map(([kind, { form, does }]) => [
        form,
        does,
        ...columnsOf(kind as keyof typeof DESCRIBED_STEPS),
      ]),
    ),
    "",
    "## Expectations",
    "",
    table(
      ["expectation", "checks", "needs"],
      Object.entries(DESCRIBED_EXPECTATIONS).map(([kind, { form, does }]) => [
        form,
        does,
        isControl(kind) ? "control plane" : "",
      ]),
    ),
    "",
  ].join("\n");

describe("the reference page", () => {
  it("says what may accompany a step, and what a step or an expectation needs", async () => {
    await expect(page()).toMatchFileSnapshot(fileURLToPath(PAGE));
  });

  it("has valid examples of every step, each of its kind", () => {
    const read = (Object.keys(STEPS) as (keyof typeof STEPS)[]).flatMap((kind) =>
      examplesIn(DESCRIBED_STEPS[kind]).map((step) => ({ kind, step })),
    );
    const { steps } = scenarioOf(ofSteps(...read.map(({ step }) => step)), { folder });
    expect(steps.map(({ kind }) => kind)).toEqual(read.map(({ kind }) => kind));
    const others = STRUCTURE.flatMap((key) => examplesIn(DESCRIBED_STEPS[key]));
    expect(problemsOf(ofSteps(...others), { folder })).toEqual([]);
  });

  it("names every profile of bots", () => {
    for (const profile of BOT_PROFILES) expect(DESCRIBED_STEPS.bots.does).toContain(profile);
  });

  it("has valid examples of every expectation, each of its kind", () => {
    for (const kind of Object.keys(EXPECTATIONS) as (keyof typeof EXPECTATIONS)[]) {
      const [example = ""] = examplesIn(DESCRIBED_EXPECTATIONS[kind]);
      const steps = ofSteps("alice: BUY 10 YES @ 0.5 as bid", `expect: { ${example} }`);
      const expectations = scenarioOf(steps, { folder }).steps.flatMap((step) =>
        step.kind === "expect" ? step.expectations : [],
      );
      expect(new Set(expectations.map((each) => each.kind))).toEqual(new Set([kind]));
    }
  });

  it.each(OWN_EXPECTATIONS)("shows where %s is written", (key) => {
    const { form } = DESCRIBED_EXPECTATIONS[key];
    const [example = ""] = examplesIn(DESCRIBED_EXPECTATIONS[key]);
    const head = form.startsWith("beside a request") ? "request: GET /orders" : "alice: BUY 50 YES @ 0.5";
    expect(problemsOf(ofSteps(`{ ${head}, ${example} }`))).toEqual([]);
  });
});
