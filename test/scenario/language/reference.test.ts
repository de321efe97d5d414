import { describe, expect, it } from "vitest";
import { EXPECTATIONS, OWN_EXPECTATIONS } from "../../../src/scenario/language/expectations.ts";
import { STEPS, STRUCTURE } from "../../../src/scenario/language/steps.ts";
import { TestFolder } from "../../support/folder.ts";
import { table } from "../../support/markdown.ts";
import { ofSteps, problemsOf, scenarioOf } from "./scenario-texts.ts";

const PAGE = "../../../docs/reference/scenario-language.md";
const root = new TestFolder();
const folder = root.path;
root.write("_quotes.yaml", "- bob: BUY 1 YES @ 0.45\n");
root.write("morning.csv", "at,account,op,ref,side,outcome,price,size,type\n0,dora,fund,,,USDC,,100,\n");

const formsIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, form = ""]) => form);

const needOf = ({ isOverHttp, control }: (typeof STEPS)[keyof typeof STEPS]): string => {
  if (isOverHttp) return "HTTP";
  return control === undefined || typeof control === "string" ? "control plane" : "";
};

const page = (): string =>
  [
    "# The scenario language: reference",
    "",
    "Generated from `src/scenario/language/steps.ts` and `expectations.ts`: `npx vitest run test/scenario/language/reference.test.ts -u`.",
    "[scenarios/README.md](../../scenarios/README.md) teaches the language. A step that needs the control plane is skipped on a deployment. One that",
    "needs HTTP does not run in process.",
    "",
    "## Steps",
    "",
    table(
      ["step", "does", "beside it", "needs"],
      [
        ...Object.values(STEPS).map((info) => [
          info.form,
          info.does,
          Object.keys(info.beside ?? {})
            .map((key) => `\`${key}\``)
            .join(", "),
          needOf(info),
        ]),
        ...Object.values(STRUCTURE).map(({ form, does }) => [form, does, "", ""]),
      ],
    ),
    "",
    "## Expectations",
    "",
    table(
      ["expectation", "checks", "needs"],
      [
        ...Object.values(OWN_EXPECTATIONS).map(({ form, of }) => [form, of, ""]),
        ...Object.values(EXPECTATIONS).map(({ form, of, isControl }) => [
          form,
          of,
          isControl ? "control plane" : "",
        ]),
      ],
    ),
    "",
  ].join("\n");

describe("the reference page", () => {
  it("is up to date", async () => {
    await expect(page()).toMatchFileSnapshot(PAGE);
  });

  it("has only valid examples of steps, each of its kind", () => {
    const read = Object.entries(STEPS).flatMap(([kind, { form }]) =>
      formsIn(form).map((step) => ({ kind, step })),
    );
    const { steps } = scenarioOf(ofSteps(...read.map(({ step }) => step)), { folder });
    expect(steps.map(({ kind }) => kind)).toEqual(read.map(({ kind }) => kind));
    const others = Object.values(STRUCTURE).flatMap(({ form }) => formsIn(form));
    expect(problemsOf(ofSteps(...others), { folder })).toEqual([]);
  });

  it("has only valid examples of expectations, each of its kind", () => {
    for (const [kind, { form }] of Object.entries(EXPECTATIONS)) {
      const [said = ""] = formsIn(form);
      const steps = ofSteps("alice: BUY 10 YES @ 0.5 as bid", `expect: { ${said} }`);
      const expectations = scenarioOf(steps, { folder }).steps.flatMap((step) =>
        step.kind === "expect" ? step.expectations : [],
      );
      expect(new Set(expectations.map((each) => each.kind))).toEqual(new Set([kind]));
    }
  });

  it.each(Object.entries(OWN_EXPECTATIONS))("shows where %s is written", (_key, { form }) => {
    const [said = ""] = formsIn(form);
    const head = form.startsWith("beside a request") ? "request: GET /orders" : "alice: BUY 50 YES @ 0.5";
    expect(problemsOf(ofSteps(`{ ${head}, ${said} }`))).toEqual([]);
  });
});
