/** How words are emphasised; colours only where the caller's functions add them. */
export interface Paint {
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const asItIs = (text: string): string => text;

/** Adds nothing. */
export const plainPaint: Paint = { red: asItIs, green: asItIs, yellow: asItIs, dim: asItIs, bold: asItIs };
