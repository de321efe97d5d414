import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Outbox } from "../../src/server/messages.ts";

/** An outbox with a number of connected clients, and the answers it has sent. */
function outboxOf(clients: number) {
  const outbox = new Outbox();
  const sockets = Array.from({ length: clients }, () => new EventEmitter());
  for (const socket of sockets) outbox.admit(socket as Socket);
  const sent: number[] = [];
  const post = (...answers: readonly number[]): void => {
    for (const answer of answers) outbox.post(() => sent.push(answer));
  };
  return { outbox, sockets, sent, post };
}

describe("an answer", () => {
  it("is sent at once if few clients are connected", () => {
    const { sent, post } = outboxOf(3);
    post(1, 2);
    expect(sent).toEqual([1, 2]);
  });

  it("is sent at the end of the turn if many clients are connected, in order of completion", async () => {
    const { outbox, sent, post } = outboxOf(4);
    post(1, 2);
    outbox.post(() => post(4));
    post(3);
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual([1, 2, 3]);
    await endOfTurn();
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it("is sent at once again when clients have disconnected", async () => {
    const { sockets, sent, post } = outboxOf(4);
    post(1);
    sockets[0]?.emit("close");
    post(2);
    expect(sent).toEqual([2]);
    await endOfTurn();
    expect(sent).toEqual([2, 1]);
  });
});
