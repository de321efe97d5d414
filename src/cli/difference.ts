import { eventHash } from "../store/event-hash.ts";
import { hex8 } from "../store/hex8.ts";
import type { ReplayDiffers } from "../store/replayer.ts";

/** Where a history first comes out otherwise, with both outcomes side by side. */
export function differenceText({ line, command, decision, message }: ReplayDiffers): string {
  const now = decision.ok
    ? ["accepted", hex8(eventHash(decision.events))]
    : [`refused, ${decision.refusal.code}`, "none"];
  const lines = [
    message,
    `  command   ${JSON.stringify(command)}`,
    ...sideBySide([
      ["", "recorded", "now"],
      ["outcome", "accepted", now[0] ?? ""],
      ["events", hex8(line.r), now[1] ?? ""],
    ]),
  ];
  if (decision.ok) lines.push(...decision.events.map((event) => `            ${JSON.stringify(event)}`));
  return lines.join("\n");
}

/** Rows of a label, what was recorded, and what it is now. */
export function sideBySide(rows: readonly (readonly [string, string, string])[]): string[] {
  const label = Math.max(...rows.map(([text]) => text.length));
  const recorded = Math.max(...rows.map(([, text]) => text.length));
  return rows.map(([name, then, now]) =>
    `  ${name.padEnd(label)}  ${then.padEnd(recorded)}  ${now}`.trimEnd(),
  );
}
