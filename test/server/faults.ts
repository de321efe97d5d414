import type { Api } from "../support/http.ts";
import type { Fault, NewFault } from "./replies.ts";

/** Injects a fault. */
export const addFault = (api: Api, fault: NewFault): Promise<Fault> => api.post("/sim/faults", fault);

/** Whether the server resets the connection without an answer. @throws any other error. */
export async function isHungUp(sending: Promise<unknown>): Promise<boolean> {
  try {
    await sending;
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ECONNRESET") return true;
    throw error;
  }
}
