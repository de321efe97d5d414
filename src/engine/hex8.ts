/** How many digits of hex 32 bits are written with. */
export const HEX_DIGITS = 8;

/** 32 bits as lines and files have them: 8 digits of hex in lower case. */
export const hex8 = (value: number): string => (value >>> 0).toString(16).padStart(HEX_DIGITS, "0");

/** The number that is written so; null when something else is. */
export const fromHex8 = (text: unknown): number | null =>
  typeof text === "string" && /^[0-9a-f]{8}$/.test(text) ? Number.parseInt(text, 16) : null;
