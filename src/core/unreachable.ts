/** Used in the default of a switch over a closed union, so that a missing case does not compile. */
export function unreachable(value: never): Error {
  return new Error(`unreachable: ${JSON.stringify(value)}`);
}
