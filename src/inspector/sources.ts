import { follow, requests } from "./live.ts";
import { file, history, notice, phase, show, server as shownServer, yieldToPage } from "./model.ts";
import { openReport } from "./report-file.ts";
import { Server } from "./server.ts";

/** Version of the program for which this page was built. */
declare const CLOBSIM_VERSION: string;

const EMBEDDED = "report";

/** Aborted when a report takes the place of the running exchange. */
const following = new AbortController();

/**
 * Opens the history of the page: the embedded report, the report named by the page's address, or the exchange of its
 * server.
 */
export async function begin(): Promise<void> {
  const embedded = document.getElementById(EMBEDDED);
  const text = embedded?.textContent?.trim() ?? "";
  const named = new URLSearchParams(location.search).get("report");
  if (text !== "") await open(embedded?.dataset.name ?? "report", () => inflated(text));
  else if (named !== null) await open(named, () => fetched(named));
  else if (location.protocol === "file:") phase.value = NO_REPORT;
  else await follow(new Server(location.pathname.replace(/\/$/, "")), following.signal);
}

const NO_REPORT = {
  kind: "failed",
  message: "no report is open",
  hint: "drop a report on this page, or choose one",
} as const;

/** Opens a dropped or chosen file. */
export const openFile = (chosen: File): Promise<void> =>
  open(chosen.name, async () => new Uint8Array(await chosen.arrayBuffer()));

async function open(name: string, read: () => Promise<Uint8Array>): Promise<void> {
  phase.value = { kind: "opening", what: name, done: 0, commands: 0 };
  try {
    const bytes = await read();
    const report = await openReport(name, bytes, CLOBSIM_VERSION, async ({ done, commands }) => {
      phase.value = { kind: "opening", what: name, done, commands };
      await yieldToPage();
    });
    following.abort();
    requests.clear();
    shownServer.value = null;
    file.value = { name, bytes };
    notice.value = report.damage;
    show(report.history);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (history.value === null) {
      phase.value = { kind: "failed", message, hint: "choose another report, or drop one on this page" };
      return;
    }
    // The open history stays.
    notice.value = message;
    phase.value = { kind: "open" };
  }
}

/** Decodes the embedded report: gzip as base64. */
async function inflated(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

async function fetched(address: string): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: the server responded with ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
