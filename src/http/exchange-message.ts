import { IncomingMessage, ServerResponse } from "node:http";
import type { Express } from "express";

/** A request with what the edge notes about it on arrival. */
export interface Incoming extends IncomingMessage {
  readonly url: string;
  readonly method: string;
  /** `performance.now()` at arrival. */
  arrivedAt: number;
  requestId: string;
  /** Names of query parameters and body fields that nobody knows, as a response header says them. */
  warning: string;
}

export type Outgoing = ServerResponse<IncomingMessage>;

/**
 * Message classes that already have express's own prototypes, and an app that takes theirs for its own. Express gives
 * every request and response its prototype anew, which costs V8 its fast shapes; where it is the same already, that
 * costs nothing.
 */
export function messageClasses(app: Express): {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
} {
  class Request extends IncomingMessage {
    arrivedAt = 0;
    requestId = "";
    warning = "";
  }
  class Response extends ServerResponse {
    constructor(request: IncomingMessage, options?: object) {
      // Node hands its server's options on, of which the published types of the class do not know.
      super(...([request, options] as unknown as [IncomingMessage]));
      this.sendDate = false;
    }
  }
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype as unknown as typeof app.request;
  app.response = Response.prototype as unknown as typeof app.response;
  return {
    IncomingMessage: Request,
    ServerResponse: Response as unknown as typeof ServerResponse,
  };
}
