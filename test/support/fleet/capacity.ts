/** What a fleet needs for so many calls, as docs/scale.md says it. Pure arithmetic on measured figures; the page and a test hold the same. */

/** Measured on two cores with load and providers on the same machine (docs/bench.md), less a margin. */
export const measured = {
  /** With Silero, without the turn model; 100 calls on two cores pass with 60 to 90 % of one core. */
  callsPerCore: 50,
  /** 16 kHz PCM each way to the caller, with frames, TCP and IP. */
  clientMbitPerCall: 0.28,
  /** The same to STT, and a voice of 24 kHz for the half of the time that the agent speaks. */
  providerMbitPerCall: 0.48,
  megabytesOfHost: 350,
  megabytesPerCall: 1,
} as const;

export interface Demand {
  readonly peakCalls: number;
  readonly coresPerHost: number;
  /** Share of a host's calls that is used when all hosts live. */
  readonly target: number;
  /** Hosts that may be away at the same time, by deaths or for a rollout. */
  readonly spareHosts: number;
}

export interface Fleet {
  readonly hosts: number;
  /** SVC_MAX_SESSIONS of each. */
  readonly maxSessions: number;
  readonly megabytesPerHost: number;
  readonly mbitPerHost: number;
}

export function fleetFor({ peakCalls, coresPerHost, target, spareHosts }: Demand): Fleet {
  const maxSessions = coresPerHost * measured.callsPerCore;
  const hosts = Math.ceil(peakCalls / (maxSessions * target)) + spareHosts;
  const perHost = peakCalls / (hosts - spareHosts);
  return {
    hosts,
    maxSessions,
    megabytesPerHost: Math.ceil(measured.megabytesOfHost + maxSessions * measured.megabytesPerCall),
    mbitPerHost: Math.ceil(perHost * (measured.clientMbitPerCall + measured.providerMbitPerCall)),
  };
}

/** Of the calls that run when a drain begins, the share that outlasts it; calls of random length have no memory. */
export const shareCutByDrain = (drainS: number, meanCallS: number): number => Math.exp(-drainS / meanCallS);
