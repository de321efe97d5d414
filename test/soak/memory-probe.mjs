// Loaded into the built server by `node --expose-gc --import`. Answers each message with the memory usage after garbage
// collection.
process.on("message", () => {
  for (let round = 0; round < 2; round += 1) globalThis.gc();
  process.send(process.memoryUsage());
});
// The channel must not keep a stopping server alive, and the server must not outlive its parent.
process.channel.unref();
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
