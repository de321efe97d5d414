import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/folder.ts";
import { apiOfTest, useApi } from "./support/http.ts";

const folder = temporaryFolder();
const api = useApi();

/** What redocly's linter prints about a document. */
interface Report {
  readonly problems: readonly {
    readonly severity: string;
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly pointer?: string }[];
  }[];
}

/** Returns the errors that redocly's linter finds in each document. */
async function errorsIn(...documents: readonly object[]): Promise<string[][]> {
  const paths = documents.map((document, index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, JSON.stringify(document));
    return path;
  });
  const program = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const args = [program, "lint", ...paths, "--extends=recommended", "--format=json", "--max-problems=1000"];
  const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  // It fails if it finds an error.
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (error: { stdout: string }) => error,
  );
  // One JSON text after another.
  const reports = stdout.split(/(?<=^\})(?=\{)/m).map((text) => JSON.parse(text) as Report);
  return reports.map(({ problems }) =>
    problems
      .filter(({ severity }) => severity === "error")
      .map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`),
  );
}

describe("the served document", () => {
  it("is valid OpenAPI 3.1 to a public linter, with both values of --numbers, and refused if it is broken", async () => {
    const valid = [api.document.json, (await apiOfTest({ numbers: "string" })).document.json];
    for (const { openapi } of valid) expect(openapi).toMatch(/^3\.1\./);
    const text = JSON.stringify(api.document.json).replace("#/components/schemas/Book", "#/nowhere");
    const [first, second, broken = []] = await errorsIn(...valid, {
      ...JSON.parse(text),
      info: { version: 1 },
    });
    expect([first, second]).toEqual([[], []]);
    expect(broken.join("\n")).toContain("no-unresolved-refs");
    expect(broken.join("\n")).toContain("struct");
  });

  it("allows no undocumented fields in replies, except in the state, the document itself, reports, the live feed and answers of the chain", () => {
    const { paths, components } = api.document.json;
    const open = Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations).flatMap(({ responses }) => {
        const reference = Object.values(responses["200"]?.content ?? {})[0]?.schema.$ref ?? "";
        const schema = components.schemas[reference.replace("#/components/schemas/", "")];
        return schema?.type === "object" && schema.additionalProperties === false ? [] : [path];
      }),
    );
    expect(open.toSorted()).toEqual(["/chain", "/openapi.json", "/sim/report", "/sim/state", "/sim/stream"]);
  });

  it("describes every operation and every query parameter", () => {
    const { paths } = api.document.json;
    for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
      expect(operation.summary, operation.operationId).toMatch(/\S/);
      for (const { name, in: place, description } of operation.parameters ?? []) {
        if (place === "query") expect(description, `${operation.operationId} ${name}`).toMatch(/\S/);
      }
    }
  });
});
