import { afterEach, describe, expect, it } from "vitest";
import { addFault } from "../server/faults.ts";
import { replyTo, requestBytes } from "../server/raw-socket.ts";
import { useApi } from "../support/http.ts";
import { refusedAsRpc, rpc } from "./rpc.ts";

const api = useApi({ settlement: "manual" });

afterEach(() => api.send("DELETE /sim/faults"));

const mining = { method: "POST", path: "/chain", body: rpc("evm_mine", [], "mine") } as const;

describe("a request to the chain that fails as a whole is answered with a JSON-RPC error", () => {
  it.each([
    [429, "RATE_LIMITED", -32005],
    [500, "INTERNAL_ERROR", -32603],
    [502, "UNAVAILABLE", -32603],
    [503, "UNAVAILABLE", -32603],
    [504, "UNAVAILABLE", -32603],
  ] as const)("if a fault answers %i", async (status, code, rpc) => {
    await addFault(api, { route: "/chain", status });
    await refusedAsRpc(api, mining, { status, code, rpc, ids: "mine" });
  });

  it("if it is not a POST", async () => {
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const sent = { method, path: "/chain" };
      await refusedAsRpc(api, sent, { status: 405, code: "METHOD_NOT_ALLOWED", rpc: -32600, ids: null });
    }
  });

  it("if its host is not this machine", async () => {
    const { status, text } = await replyTo(api.port, requestBytes("POST /chain", ["Host: evil.example"]));
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({
      ...{ jsonrpc: "2.0", id: null },
      error: { code: 4100, data: { code: "HOST_NOT_ALLOWED", status: 403 } },
    });
  });

  it("if a query parameter is given twice", async () => {
    const sent = { ...mining, path: "/chain?key=1&key=2" };
    await refusedAsRpc(api, sent, { status: 400, code: "INVALID_PARAMETER", rpc: -32600, ids: "mine" });
  });
});

describe("such an error", () => {
  const refused = (body: unknown, ids: unknown): Promise<unknown> =>
    refusedAsRpc(
      api,
      { ...mining, body: JSON.stringify(body) },
      { status: 503, code: "UNAVAILABLE", rpc: -32603, ids },
    );

  it("is repeated for each call of a batch that has an id", async () => {
    await addFault(api, { route: "/chain", status: 503 });
    const notification = { jsonrpc: "2.0", method: "evm_mine" };
    await refused([rpc("evm_mine", [], 7), notification, rpc("eth_chainId", [], "b")], [7, "b"]);
    await refused([rpc("evm_mine", [], { no: "id" }), rpc("eth_chainId", [], null)], [null, null]);
  });

  it("has the id null if no call has an id", async () => {
    await addFault(api, { route: "/chain", status: 503 });
    for (const body of [{ jsonrpc: "2.0", method: "evm_mine" }, [], [1], 7, "text", null]) {
      await refused(body, null);
    }
    await refusedAsRpc(
      api,
      { ...mining, body: "{" },
      { status: 503, code: "UNAVAILABLE", rpc: -32603, ids: null },
    );
  });
});
