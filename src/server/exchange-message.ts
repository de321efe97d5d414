import { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "./faults.ts";

/** A request with what the edge notes about it on arrival. */
export class Incoming extends IncomingMessage {
  declare url: string;
  declare method: string;
  /** `performance.now()` at arrival. */
  arrivedAt = 0;
  requestId = "";
  /** The address whose credentials signed it; empty until they are found right. */
  caller = "";
  /** What the client is warned of, such as fields that its endpoint does not know, as the response header says it. */
  warning = "";
  /** The bytes of a body that its handler reads itself; null until they have come. */
  rawBody: Buffer | null = null;
  /** The injected fault that befell it. */
  fault: Fault | null = null;
}

/** A response that says nothing of the wall clock: a frozen exchange answers the same bytes. */
export class Outgoing extends ServerResponse {
  constructor(request: IncomingMessage, options?: object) {
    // Node hands its server's options on, of which the published types of the class do not know.
    super(...([request, options] as unknown as [IncomingMessage]));
    this.sendDate = false;
  }
}
