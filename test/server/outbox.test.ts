import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Outbox } from "../../src/server/connection.ts";

/** An outbox with so many clients, and what has left it. */
function outboxOf(clients: number) {
  const outbox = new Outbox();
  const sockets = Array.from({ length: clients }, () => new EventEmitter());
  for (const socket of sockets) outbox.admit(socket as Socket);
  const left: number[] = [];
  const post = (...answers: readonly number[]): void => {
    for (const answer of answers) outbox.post(() => left.push(answer));
  };
  return { outbox, sockets, left, post };
}

describe("an answer", () => {
  it("leaves at once where few clients are connected", () => {
    const { left, post } = outboxOf(3);
    post(1, 2);
    expect(left).toEqual([1, 2]);
  });

  it("leaves with all others of its turn in a crowd, in the order in which they were ready", async () => {
    const { outbox, left, post } = outboxOf(4);
    post(1, 2);
    outbox.post(() => post(4));
    post(3);
    expect(left).toEqual([]);
    await endOfTurn();
    expect(left).toEqual([1, 2, 3]);
    await endOfTurn();
    expect(left).toEqual([1, 2, 3, 4]);
  });

  it("leaves at once again when the crowd is gone", async () => {
    const { sockets, left, post } = outboxOf(4);
    post(1);
    sockets[0]?.emit("close");
    post(2);
    expect(left).toEqual([2]);
    await endOfTurn();
    expect(left).toEqual([2, 1]);
  });
});
