import { afterAll, describe, expect, it } from "vitest";
import type { Param } from "../../src/api/endpoint.ts";
import { isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { type Api, type Request, useApi } from "../support/http.ts";
import type { MarketPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, useTrader } from "./trader.ts";

const api = useApi();
const strict = useApi({ unknownFields: "refuse" });
const trader = useTrader(api, 1);

afterAll(() => Promise.all([api.close(), strict.close()]));

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

const refusedFor = async (on: Api, sent: Request, field: string): Promise<string> => {
  const { body, headers } = await on.refused(sent, "INVALID_PARAMETER");
  expect(body.error).toContain(`unknown field "${field}"`);
  expect(body.details).toEqual({ fields: [field] });
  expect(headers["x-sim-warning"]).toBeUndefined();
  return `${body.error}; ${body.hint}`;
};

describe("the control plane", () => {
  it.each(control.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "refuses an unknown field in the query of %s",
    async (_name, endpoint) => {
      await refusedFor(api, requestTo(endpoint, "zebra=1"), "zebra");
    },
  );

  it.each(control.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "refuses an unknown field in the body of %s, even if it has no body",
    async (_name, endpoint) => {
      await refusedFor(api, { ...requestTo(endpoint, ""), body: { zebra: 1 } }, "zebra");
    },
  );

  it.each([
    ["/sim/clock", { advence: "1h" }, "advence", "advance"],
    ["/sim/markets", { question: "Will it rain?", tickSiz: 0.001 }, "tickSiz", "tickSize"],
    [`/sim/accounts/0x${"1".repeat(40)}/fund`, { colateral: 1000 }, "colateral", "collateral"],
  ])("names the nearest field of %s", async (path, body, field, meant) => {
    const message = await refusedFor(api, { method: "POST", path, body }, field);
    expect(message).toContain(`unknown field "${field}", did you mean "${meant}"?; the body takes `);
  });

  it("lists the fields of an endpoint's query or body", async () => {
    const query = await refusedFor(api, { method: "POST", path: "/sim/clock?advance=1h" }, "advance");
    expect(query).toBe('unknown field "advance"; the body takes mode, time, advance, rate');
    const none = await refusedFor(api, { method: "POST", path: "/sim/reset", body: { seed: 7 } }, "seed");
    expect(none).toBe('unknown field "seed"; it takes no fields');
    const page = await refusedFor(api, { method: "GET", path: "/sim/accounts?limt=5" }, "limt");
    expect(page).toBe('unknown field "limt", did you mean "limit"?; the query takes limit, offset');
  });

  it("accepts an empty object if it has no body, and refuses everything but an object", async () => {
    expect((await api.send("POST /sim/chain/bump", {})).status).toBe(200);
    for (const body of ["[]", "{", "null", '"text"']) {
      await api.refused("POST /sim/chain/bump", "INVALID_JSON", body);
    }
  });

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

  it("ignores, with a warning, a body that is not an object if it has no body", async () => {
    for (const body of ["[1]", "{", "7"]) {
      const { status, headers } = await trader.send("GET /clob/orders", body);
      expect(status).toBe(200);
      expect(headers["x-sim-warning"]).toMatch(/^the body is ignored/);
    }
    const { headers } = await trader.send("GET /clob/orders", "{}");
    expect(headers["x-sim-warning"]).toBeUndefined();
  });

  it.each([
    ["ordertype", "orderType"],
    ["order_type", "orderType"],
    ["timeInForce", "orderType"],
    ["time_in_force", "orderType"],
    ["token_id", "tokenId"],
  ])("names our field for %s of another service", async (field, meant) => {
    const tokenId = await api.newToken();
    const order = { tokenId, side: "BUY", price: 0.5, size: 5, [field]: "x" };
    const reply = await trader.send<PlacedOrder>("POST /clob/order", order);
    expect(reply).toMatchObject({ status: 200, body: { orderType: "GTC" } });
    expect(reply.headers["x-sim-warning"]).toBe(`unknown field "${field}", did you mean "${meant}"?`);
  });

  it("warns of a limit above the maximum, which applies", async () => {
    const page = await api.send<MarketPage>("GET /api/markets?limit=101");
    expect(page.body.limit).toBe(100);
    expect(page.headers["x-sim-warning"]).toBe("limit 101 is above the maximum: 100 is used");
    const most = await api.send<MarketPage>("GET /api/markets?limit=100");
    expect(most.headers["x-sim-warning"]).toBeUndefined();
  });

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

  it.each(["/healthz", "/openapi.json"])(
    "%s warns of them, as a health check may send them",
    async (path) => {
      const { status, headers } = await strict.send(`GET ${path}?zebra=1`);
      expect([status, headers["x-sim-warning"]]).toEqual([200, 'unknown field "zebra"']);
    },
  );

  it("/chain warns of them in the query", async () => {
    const call = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
    const { status, headers } = await strict.send("POST /chain?zebra=1", call);
    expect([status, headers["x-sim-warning"]]).toEqual([200, 'unknown field "zebra"']);
  });

  it("a request without one is accepted, and a limit is still clamped", async () => {
    const page = await strict.send<MarketPage>("GET /api/markets?limit=101");
    expect([page.status, page.body.limit]).toEqual([200, 100]);
    expect(page.headers["x-sim-warning"]).toContain("maximum");
  });

  it("GET /sim and the document have the setting", async () => {
    expect(await strict.get("/sim")).toMatchObject({ config: { unknownFields: "refuse" } });
    expect(await api.get("/sim")).toMatchObject({ config: { unknownFields: "accept" } });
    const { schemas } = strict.document.json.components;
    expect(schemas.NewOrder).toMatchObject({ additionalProperties: false });
  });
});
