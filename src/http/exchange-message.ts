import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
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
 * Message classes whose instances already have express's own prototypes. Express gives every request and response its
 * prototype anew, which costs V8 its fast shapes; where it is the same already, that costs nothing.
 */
export function messageClasses(app: Express): {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
} {
  function Request(this: Incoming, socket: Socket): void {
    Reflect.apply(IncomingMessage, this, [socket]);
    this.arrivedAt = 0;
    this.requestId = "";
    this.warning = "";
  }
  function Response(this: Outgoing, request: IncomingMessage, options?: object): void {
    Reflect.apply(ServerResponse, this, [request, options]);
    this.sendDate = false;
  }
  Request.prototype = app.request;
  Response.prototype = app.response;
  return {
    IncomingMessage: Request as unknown as typeof IncomingMessage,
    ServerResponse: Response as unknown as typeof ServerResponse,
  };
}
