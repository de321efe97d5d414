// A bare node:http server that sends prepared responses, which its parent provides.
import { createHmac, createSecretKey } from "node:crypto";
import { createServer } from "node:http";

const KEEP_ALIVE_MS = 65_000;
const PREFIX = "/clob".length;

process.once("disconnect", () => process.exit());
process.once("message", ({ secret, page, orders }) => {
  const key = createSecretKey(secret, "utf8");

  const server = createServer((request, response) => {
    response.sendDate = false;
    if (request.method === "GET") {
      answer(response, page);
      return;
    }
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      const hmac = createHmac("sha256", key);
      hmac.update(request.headers.poly_timestamp + request.method + request.url.slice(PREFIX)).update(body);
      if (hmac.digest("hex") !== request.headers.poly_signature) {
        response.writeHead(401).end();
        return;
      }
      answer(response, orders[JSON.parse(body.toString()).side]);
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
});

function answer(response, { headers, body }) {
  response.writeHead(200, headers);
  response.end(body);
}
