import type { Api } from "../support/http.ts";
import type { Fault, NewFault } from "./replies.ts";

/** Injects a fault that is accepted. */
export const addFault = (api: Api, fault: NewFault): Promise<Fault> => api.post("/sim/faults", fault);

/** Whether the server hangs up on a request without an answer. @throws what else is wrong with it. */
export async function isHungUp(sending: Promise<unknown>): Promise<boolean> {
  try {
    await sending;
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ECONNRESET") return true;
    throw error;
  }
}
