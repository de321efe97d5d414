declare module "seedrandom/lib/alea.js" {
  /** Alea alone, without the rest of the package: seeded by any text. */
  export default function alea(seed: string): { int32(): number };
}
