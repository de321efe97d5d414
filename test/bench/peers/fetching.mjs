// Sends requests, 32 at a time, and prints the responses per second:
// node fetching.mjs MS METHOD URL HEADERS BODY [ANSWER PEERS]. With ANSWER, msw responds within this process.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [ms, method, url, headers, body, answer, peers] = process.argv.slice(2);
const AT_A_TIME = 32;

if (answer !== undefined) {
  const found = createRequire(`${peers}/package.json`);
  const { http, HttpResponse } = await import(pathToFileURL(found.resolve("msw")).href);
  const { setupServer } = await import(pathToFileURL(found.resolve("msw/node")).href);
  const handler = () => new HttpResponse(answer, { headers: { "content-type": "application/json" } });
  setupServer(http[method.toLowerCase()](url.replace(/\?.*/, ""), handler)).listen();
}

const options = { method, headers: JSON.parse(headers), ...(body === "" ? {} : { body }) };

async function fetchFor(duration) {
  let answers = 0;
  const start = performance.now();
  const one = async () => {
    while (performance.now() - start < duration) {
      const response = await fetch(url, options);
      if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
      await response.json();
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  return (answers * 1_000) / (performance.now() - start);
}

await fetchFor(Number(ms) / 2);
console.log(await fetchFor(Number(ms)));
process.exit();
