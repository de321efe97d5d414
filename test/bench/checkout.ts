import { fileURLToPath } from "node:url";

/** A file of the checkout; the benchmarks run as one bundle in its `dist`. */
export const inCheckout = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
