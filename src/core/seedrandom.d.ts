declare module "seedrandom/lib/alea.js" {
  /** The Alea generator alone; the seed is any text. */
  export default function alea(seed: string): { int32(): number };
}
