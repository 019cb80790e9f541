/** What the live view shows: calls as their workers know them, and the state of the service. Counts, states and ids; nothing that was said. */

/** Calls that one worker tells of at a time, the oldest first. */
export const mostLiveCalls = 512;

export type Speaker = 'caller' | 'agent' | 'both' | 'nobody';

export interface LiveCall {
  readonly call: string;
  readonly tenant?: string;
  readonly ageMs: number;
  readonly speaker: Speaker;
  /** The agent has yet to answer what the caller said. */
  readonly isOwed: boolean;
  readonly turns: number;
  /** From the caller's last voice to the answer's first sound, of the last turn that was answered. */
  readonly lastResponseMs?: number;
  readonly faults: { readonly stt: number; readonly llm: number; readonly tts: number };
  readonly interruptions: number;
  readonly runningTools: number;
}

export interface LiveWorker {
  readonly worker: number;
  readonly calls: number;
  /** Since it last showed a sign of life. */
  readonly silentMs: number;
  readonly latenessMs: number;
}

export interface LiveProvider {
  readonly stage: string;
  readonly role: string;
  readonly provider: string;
  readonly breaker: 'closed' | 'half_open' | 'open';
}

export interface LiveState {
  readonly agent: string;
  /** Agent files whose content is not in force, and why; absent in a service of one agent. */
  readonly agentProblems?: readonly string[];
  readonly ready: boolean;
  /** Why not: the name that `/readyz` has, and a sentence. */
  readonly reason?: string;
  readonly why?: string;
  readonly sessions: number;
  /** Absent for a tenant, who sees its own calls alone. */
  readonly maxSessions?: number;
  readonly calls: readonly (LiveCall & { readonly worker: number })[];
  readonly workers: readonly LiveWorker[];
  readonly providers: readonly LiveProvider[];
}
