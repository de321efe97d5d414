import { describe, expect, it } from "vitest";
import type { Param } from "../../src/api/endpoint.ts";
import { isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { type Api, type Request, useApi } from "../support/http.ts";
import { replyTo, requestBytes } from "./raw-socket.ts";
import { deriveTrader, useTrader } from "./trader.ts";

const api = useApi();
const strict = useApi({ unknownFields: "refuse" });
const trader = useTrader(api, 1);

const control = ENDPOINTS.filter(({ access }) => access === "control");
const imitated = ENDPOINTS.filter(({ access, body }) => access !== "control" && !(body && isRaw(body)));
/** The endpoints of the specification. */
const specified = imitated.filter(({ path }) => /^\/(api|clob)\//.test(path));
const nameOf = ({ method, path }: (typeof ENDPOINTS)[number]): string => `${method} ${path}`;

/** A request with the required parameters of an endpoint, for objects that do not exist, and one more parameter. */
function requestTo({ method, path, query }: (typeof ENDPOINTS)[number], more: string): Request {
  const required = Object.entries<Param<unknown>>(query).filter(([, { required }]) => required);
  const named = required.map(([name]) => `${name}=x`);
  return { method, path: `${path.replace(/\{\w+\}/g, "x")}?${[...named, more].join("&")}` };
}

const refusedFor = async (on: Api, sent: Request, field: string): Promise<void> => {
  const { body, headers } = await on.refused(sent, "INVALID_PARAMETER");
  expect(body.error).toContain(`unknown field "${field}"`);
  expect(body.details).toEqual({ fields: [field] });
  expect(headers["x-sim-warning"]).toBeUndefined();
};

describe("the control plane", () => {
  it.each(control.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "refuses an unknown field in the query and in the body of %s, even if it has no body",
    async (_name, endpoint) => {
      await refusedFor(api, requestTo(endpoint, "zebra=1"), "zebra");
      await refusedFor(api, { ...requestTo(endpoint, ""), body: { zebra: 1 } }, "zebra");
    },
  );

  it("documents that its bodies have no other fields", () => {
    const { schemas } = api.document.json.components;
    expect(schemas.NewClock).toMatchObject({ additionalProperties: false });
    expect(schemas.NewOrder).not.toHaveProperty("additionalProperties");
  });
});

describe("the imitated API", () => {
  it.each(imitated.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "warns of an unknown field in the query and in the body of %s",
    async (_name, endpoint) => {
      const { method, path } = requestTo(endpoint, "zebra=1");
      const { headers } = await trader.send(`${method} ${path}`, { giraffe: 1 });
      expect(headers["x-sim-warning"]).toMatch(/unknown field "zebra".*; unknown field "giraffe"/);
    },
  );

  it("documents its warning as a header of every answer", () => {
    for (const operation of Object.values(api.document.json.paths).flatMap(Object.values)) {
      expect(operation.responses["200"].headers).toHaveProperty("x-sim-warning.schema.type", "string");
    }
  });
});

describe("with unknown fields refused", () => {
  it.each(specified.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "%s refuses them in its query and in its body",
    async (_name, endpoint) => {
      const own = await deriveTrader(strict, 1);
      const { method, path } = requestTo(endpoint, "zebra=1");
      await refusedFor(strict, own.signed(method, path), "zebra");
      await refusedFor(strict, own.signed(method, requestTo(endpoint, "").path, { giraffe: 1 }), "giraffe");
    },
  );

  // Other routes stand in pages/refused-fields.txt.
  it("the document says so", () => {
    const { schemas } = strict.document.json.components;
    expect(schemas.NewOrder).toMatchObject({ additionalProperties: false });
  });
});

it("the record of a request with an unknown parameter given twice is incomplete", async () => {
  const trader = await deriveTrader(api, 1);
  await trader.refused("DELETE /clob/orders/all?zebra=1&zebra=2", "INVALID_PARAMETER");
  const { text } = await api.send("GET /sim/report");
  const records = text.split("\n").filter((line) => line.includes('"k":"refused"'));
  expect(JSON.parse(records.at(-1) as string)).toMatchObject({
    d: { code: "INVALID_PARAMETER", field: "zebra", asked: { query: {}, isCut: true } },
  });
});

describe("an unknown parameter", () => {
  const warningOf = async (query: string): Promise<string | undefined> =>
    (await api.send(`GET /api/markets?${query}`)).headers["x-sim-warning"];

  it("is escaped and cut in the header of the warning", async () => {
    const names = ["a\r\nx-evil: 1", "\u001b[2J", "größe", "数量", "👍", "\u0000", '"', "a".repeat(4000)];
    for (const name of names) {
      const bytes = requestBytes(`GET /api/markets?${encodeURIComponent(name)}=1`);
      const { status, headers } = await replyTo(api.port, bytes);
      expect(status).toBe(200);
      expect([...headers.keys()]).not.toContain("x-evil");
      expect(headers.get("x-sim-warning")).toEqual([expect.stringMatching(/^unknown field "[ -~]{1,140}"$/)]);
    }
  });

  it("is counted and not listed when there are many", async () => {
    const many = Array.from({ length: 400 }, (_, index) => `zz${index}=1`).join("&");
    expect((await warningOf(many))?.length).toBeLessThan(200);
    expect(await warningOf(many)).toContain("and 395 more");
  });
});
