/** The command line cannot be read; the message is a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
