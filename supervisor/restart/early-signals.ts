/**
 * SIGUSR2 ends a process that does not listen for it, and a reload may come while the service still starts. Imported before everything
 * else; one that comes before the service can answer it is ignored without a word: what starts has just read the newest of everything.
 */
process.on('SIGUSR2', () => undefined);
/** Many rotate logs with this one, and to Node it means to open a debugger, which asks nobody on this machine who he is. */
process.on('SIGUSR1', () => undefined);
