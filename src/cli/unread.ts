/** Where the program prints: stdout or stderr. */
type Printed = NodeJS.WriteStream;

/**
 * Calls `gone` when nobody reads a stream any more: the other end of its pipe is closed, or its terminal. Any other
 * error of it is thrown. What was called before is called no more.
 */
export function whenUnread(stream: Printed, gone: () => void): void {
  stream.removeAllListeners("error").on("error", (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE" || (error.code === "EIO" && stream.isTTY === true);
    if (!isGone) throw error;
    gone();
  });
}
