/**
 * Says in one word who has the turn, from what can be heard on this side.
 *
 * It is a display: the protocol does not show the engine's turn states. Invariant: the
 * answer depends only on the facts given and the time asked for, so it can be asked at any rate. Times are ms of one clock.
 */

export type Turn = 'listening' | 'caller-speaking' | 'thinking' | 'agent-speaking' | 'interrupted';

/** The agent's pauses between sentences are shorter. */
const PAUSE_MS = 350;
/** Without an answer for so long, what was heard was probably not speech. */
const THINKING_MS = 8_000;
/** How long a cut is shown when no speech of the caller was noticed. */
const INTERRUPTED_MS = 1_200;

export class TurnView {
  #callerSpeaking = false;
  #agentPlaying = false;
  #agentEndedMs = Number.NEGATIVE_INFINITY;
  #callerEndedMs: number | undefined;
  #clearedMs: number | undefined;

  /** Whether audio of the agent is leaving the buffer now. */
  get agentPlaying(): boolean {
    return this.#agentPlaying;
  }

  callerStarted(): void {
    this.#callerSpeaking = true;
    this.#callerEndedMs = undefined;
  }

  callerEnded(atMs: number): void {
    this.#callerSpeaking = false;
    this.#callerEndedMs = atMs;
    this.#clearedMs = undefined;
  }

  agentStarted(): void {
    this.#agentPlaying = true;
    this.#clearedMs = undefined;
    this.#callerEndedMs = undefined;
  }

  agentEnded(atMs: number): void {
    if (this.#agentPlaying) this.#agentEndedMs = atMs;
    this.#agentPlaying = false;
  }

  cleared(atMs: number): void {
    this.#agentPlaying = false;
    this.#agentEndedMs = Number.NEGATIVE_INFINITY;
    this.#clearedMs = atMs;
  }

  at(nowMs: number): Turn {
    const cleared = this.#clearedMs;
    if (cleared !== undefined && (this.#callerSpeaking || nowMs - cleared < INTERRUPTED_MS))
      return 'interrupted';
    if (this.#agentPlaying) return 'agent-speaking';
    if (this.#callerSpeaking) return 'caller-speaking';
    if (nowMs - this.#agentEndedMs < PAUSE_MS) return 'agent-speaking';
    const since = this.#callerEndedMs ?? cleared;
    return since !== undefined && nowMs - since < THINKING_MS ? 'thinking' : 'listening';
  }
}
