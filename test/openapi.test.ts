import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../src/api/endpoints.ts";
import { temporaryFolder } from "./support/folder.ts";
import { apiOfTest, type Method, useApi } from "./support/http.ts";

const folder = temporaryFolder();
const api = useApi();

/** Returns the errors of redocly's linter. */
async function errorsIn(document: object): Promise<string[]> {
  const path = join(mkdtempSync(join(folder, "lint-")), "openapi.json");
  writeFileSync(path, JSON.stringify(document));
  const program = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const args = [program, "lint", path, "--extends=recommended", "--format=json", "--max-problems=1000"];
  const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  // It fails if it finds an error.
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (error: { stdout: string }) => error,
  );
  const { problems } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    problems: { severity: string; ruleId: string; message: string; location: { pointer?: string }[] }[];
  };
  return problems
    .filter(({ severity }) => severity === "error")
    .map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
}

describe("the served document", () => {
  it.each(["number", "string"] as const)(
    "is valid OpenAPI 3.1 to a public linter, with --numbers %s",
    async (numbers) => {
      const document = (await apiOfTest({ numbers })).document.json;
      expect(document.openapi).toMatch(/^3\.1\./);
      expect(await errorsIn(document)).toEqual([]);
    },
  );

  it("is refused by the linter if it is broken", async () => {
    const text = JSON.stringify(api.document.json).replace("#/components/schemas/Book", "#/nowhere");
    const errors = (await errorsIn({ ...JSON.parse(text), info: { version: 1 } })).join("\n");
    expect(errors).toContain("no-unresolved-refs");
    expect(errors).toContain("struct");
  });

  it("has every route of the server, its own and the health check too", () => {
    const { paths } = api.document.json;
    for (const { method, path, operation } of ENDPOINTS) {
      expect(paths[path]?.[method.toLowerCase()]?.operationId).toBe(operation);
    }
    for (const path of ["/openapi.json", "/healthz"])
      expect(Object.keys(paths[path] ?? {}), path).toEqual(["get"]);
  });

  it("has no endpoint that does not answer", async () => {
    for (const [template, operations] of Object.entries(api.document.json.paths)) {
      for (const method of Object.keys(operations)) {
        // The live feed does not end unless it is refused.
        const path = template.replace(/\{\w+\}/g, "x").replace(/\/stream$/, "$&?since=x");
        const reply = await api.send(`${method.toUpperCase() as Method} ${path}`);
        expect([reply.status, reply.text], `${method} ${path}`).not.toContain(405);
        expect(reply.text, `${method} ${path}`).not.toContain("ROUTE_NOT_FOUND");
      }
    }
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
