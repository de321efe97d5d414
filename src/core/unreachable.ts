/** For the default of a switch over a closed union: a forgotten member does not compile. */
export function unreachable(value: never): Error {
  return new Error(`unreachable: ${JSON.stringify(value)}`);
}
