import { follow } from "./live.ts";
import { aTurn, file, history, notice, phase, show, server as shownServer } from "./model.ts";
import { openReport } from "./report-file.ts";
import { Server } from "./server.ts";

/** The version of the program that this page was built with. */
declare const CLOBSIM_VERSION: string;

const EMBEDDED = "report";

/**
 * Opens what the page is to show: the report that is put into it, the one that its address names, or the exchange that
 * served it.
 */
export async function begin(): Promise<void> {
  const embedded = document.getElementById(EMBEDDED);
  const text = embedded?.textContent?.trim() ?? "";
  const named = new URLSearchParams(location.search).get("report");
  if (text !== "") await opening(embedded?.dataset.name ?? "report", () => inflated(text));
  else if (named !== null) await opening(named, () => fetched(named));
  else if (location.protocol === "file:") phase.value = NOTHING;
  else await follow(new Server(location.pathname.replace(/\/$/, "")));
}

const NOTHING = {
  kind: "failed",
  message: "no report is open",
  hint: "drop a report on this page, or choose one",
} as const;

/** Opens a file that somebody has dropped or chosen. */
export const openFile = (chosen: File): Promise<void> =>
  opening(chosen.name, async () => new Uint8Array(await chosen.arrayBuffer()));

async function opening(name: string, read: () => Promise<Uint8Array>): Promise<void> {
  phase.value = { kind: "opening", what: name, done: 0, commands: 0 };
  try {
    const bytes = await read();
    const report = await openReport(name, bytes, CLOBSIM_VERSION, async ({ done, commands }) => {
      phase.value = { kind: "opening", what: name, done, commands };
      await aTurn();
    });
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
    // What is open stays.
    notice.value = message;
    phase.value = { kind: "open" };
  }
}

/** What the page carries: gzip as base64. */
async function inflated(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

async function fetched(address: string): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
