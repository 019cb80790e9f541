/**
 * SIGUSR2 ends a process that does not listen for it, and a reload may come while the service still starts. Imported before everything
 * else; one that comes before the service can answer it is ignored without a word: what starts has just read the newest of everything.
 */
process.on('SIGUSR2', () => undefined);
