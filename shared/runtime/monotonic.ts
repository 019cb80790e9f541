/** The machine's monotonic clock in milliseconds: the same origin in every process, for heartbeats in shared memory. */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
