// Fetches a URL, 32 times at once, and prints the responses per second: node fetching.mjs MS URL [ANSWER PEERS].
// With ANSWER, msw responds within this process.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [ms, url, answer, peers] = process.argv.slice(2);
const AT_A_TIME = 32;

if (answer !== undefined) {
  const found = createRequire(`${peers}/package.json`);
  const { http, HttpResponse } = await import(pathToFileURL(found.resolve("msw")).href);
  const { setupServer } = await import(pathToFileURL(found.resolve("msw/node")).href);
  const handler = () => new HttpResponse(answer, { headers: { "content-type": "application/json" } });
  setupServer(http.get(url.replace(/\?.*/, ""), handler)).listen();
}

async function fetchFor(duration) {
  let answers = 0;
  const start = performance.now();
  const one = async () => {
    while (performance.now() - start < duration) {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
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
