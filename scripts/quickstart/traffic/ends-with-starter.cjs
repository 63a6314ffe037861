/**
 * Preloaded into programs that know nothing of the quickstart: they end with the process that started them. They are told to once:
 * an agent takes a second signal as the wish to end at once, and leaves its Envoy running. CommonJS: with an ES module preloaded, Node's
 * loader of ES modules reads the whole program for its exports, which takes longer than its start.
 */
if (process.channel) {
  let told = false;
  process.on('SIGTERM', () => {
    const isLoading = process.listenerCount('SIGTERM') === 1;
    if (!told && isLoading) process.exit(143);
    told = true;
  });
  process.on('disconnect', () => told || process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
