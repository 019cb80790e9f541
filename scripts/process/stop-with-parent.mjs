// Preloaded into the supervisor by start.mjs: when the command that holds the other end of stdin is gone, however it died, the
// supervisor is asked to drain. Its own children inherit the preload and must not act on it.
if (/supervisor[\\/]cli\.js$/.test(process.argv[1] ?? '')) {
  process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.on('error', () => undefined);
  process.stdin.resume();
  process.stdin.unref();
}
