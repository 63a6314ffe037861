/** Preloaded into programs that know nothing of the quickstart: they end with the process that started them. */
if (process.channel) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
