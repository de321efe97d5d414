/** The exchange threw at a row of a flow, which is a defect; `cause` is what it threw. */
export class RowError extends Error {
  override readonly name = "RowError";
  /** From 1. */
  readonly row: number;
  /** The row as a step would say it. */
  readonly text: string;

  constructor(row: number, text: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.row = row;
    this.text = text;
  }
}
