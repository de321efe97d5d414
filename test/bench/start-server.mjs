// A minimal node:http server, the lower bound of start times. Its argument is the port.
import { createServer } from "node:http";

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"time":0}');
});
server.listen(Number(process.argv[2]), "127.0.0.1");
