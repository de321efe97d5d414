import { sha256Hex } from "../hash.ts";
import { CERTAIN } from "./settlement-fault.ts";

const DIGITS = 8;
const SPAN = 4_294_967_296;

/**
 * A number from 0 to 999,999, each as likely as any other, drawn for one attempt of one transaction by one fault.
 * Nothing is drawn from a stream: what is decided twice is decided alike.
 */
export function chanceOf(seed: string, fault: number, transaction: number, attempt: number): number {
  const digest = sha256Hex(`clobsim chance\n${fault}\n${transaction}\n${attempt}\n${seed}`);
  return Math.floor((Number.parseInt(digest.slice(0, DIGITS), 16) / SPAN) * CERTAIN);
}
