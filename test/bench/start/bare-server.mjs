// The least that answers: what no start of a server on node:http can beat. Its port is its only argument.
import { createServer } from "node:http";

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"time":0}');
});
server.listen(Number(process.argv[2]), "127.0.0.1");
