// Loaded into the built server by `node --expose-gc --import`: answers each message with the memory that the server uses
// when garbage has been collected.
process.on("message", () => {
  for (let round = 0; round < 2; round += 1) globalThis.gc();
  process.send(process.memoryUsage());
});
// A server that was told to stop must not be kept by its channel, and none may outlive who started it.
process.channel.unref();
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
