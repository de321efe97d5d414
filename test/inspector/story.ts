import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { orThrow } from "../../src/client/result.ts";
import type { RunningServer } from "../../src/compose.ts";
import { clientOn, run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useServer } from "../support/http.ts";

/** Plays the story on a server for the tests of a file; `folder` is for their files. */
export async function useStory() {
  const folder = temporaryFolder();
  return { ...(await playStory(await useServer(), folder)), folder };
}

export const QUESTION = "Will the page show it?";

/**
 * Plays a short session with an example of everything that panes show on a frozen server, and writes its report into a folder.
 * Alice's `bid` is partly filled and canceled; the settlement of Bob's ask `failed` fails. `report` is the path of the report,
 * `html` the URL of the page with the report in it.
 */
export async function playStory(server: RunningServer, folder: string) {
  const { url } = server;
  const [alice, bob] = [await clientOn(url, "1"), await clientOn(url, "2")];
  const { control } = alice;
  const { slug, tokens } = orThrow(await control.createMarket({ question: QUESTION }));
  const yes = tokens[0]?.tokenId ?? "";
  const [aliceAddress, bobAddress] = [alice, bob].map((client) => client.credentials?.address ?? "");
  for (const address of [aliceAddress, bobAddress] as string[]) {
    orThrow(await control.fund(address, { collateral: 1_000, tokens: { [yes]: 500 } }));
  }
  const { id: bid } = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 100 }));
  orThrow(await bob.place({ tokenId: yes, side: "SELL", price: 0.4, size: 40 }));
  await alice.place({ tokenId: yes, side: "BUY", price: 0.555, size: 10 });
  orThrow(await control.setClock({ advance: "10s" }));
  orThrow(await control.chain.addFault({ kind: "fail" }));
  const { id: failed } = orThrow(await bob.place({ tokenId: yes, side: "SELL", price: 0.39, size: 5 }));
  orThrow(await control.setClock({ advance: "10s" }));
  orThrow(await alice.cancel(bid));
  orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.38, size: 20 }));
  orThrow(await bob.place({ tokenId: yes, side: "SELL", price: 0.45, size: 30, orderType: "GTC" }));
  orThrow(await bob.place({ tokenId: yes, side: "SELL", price: 0.45, size: 12.5 }));
  const [report, html] = [join(folder, "story.ndjson"), join(folder, "story.html")];
  writeFileSync(report, await (await fetch(`${url}/sim/report`)).text());
  await run("inspect", [report], { html });
  for (const client of [alice, bob]) client.close();
  return {
    ...{ url, yes, slug, alice: aliceAddress as string, bob: bobAddress as string, bid, failed, report },
    html: pathToFileURL(html).href,
  };
}

/** Number of lines of a report. */
export const linesOf = (report: string): number => readFileSync(report, "utf8").trimEnd().split("\n").length;
