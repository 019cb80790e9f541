/** Who spoke for how long, how long nobody did, and what became of the caller's voice while the agent spoke. Pure. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';

/** What is told of the time since it was told last; nothing of what is nought. */
export interface SpeechTally {
  readonly caller?: number;
  readonly agent?: number;
  readonly silence?: number;
  readonly longest?: number;
  readonly falseStarts?: number;
  readonly backchannels?: number;
}

type Sums = Record<keyof SpeechTally, number>;

const none = (): Sums => ({
  caller: 0,
  agent: 0,
  silence: 0,
  longest: 0,
  falseStarts: 0,
  backchannels: 0,
});

export class Speakers {
  #sums = none();
  #callerSpeaks = false;
  #agentSpeaks = false;
  /** Up to here everything is counted. */
  #countedTo: Millis;
  #silentSince: Millis | undefined;
  /** The agent holds its voice for the caller's; `words`: there were some. */
  #held: { words: boolean } | undefined;

  constructor(now: Millis) {
    this.#countedTo = now;
  }

  /** The conversation begins: what was before is no silence. */
  begin(now: Millis): void {
    this.#countedTo = now;
    this.#silentSince = now;
  }

  hear(fact: CallEvent, now: Millis): void {
    switch (fact.type) {
      case 'speech.started':
      case 'voice.resumed':
        this.#set({ caller: true }, now);
        return;
      case 'speech.stopped':
        this.#set({ caller: false }, now);
        return;
      case 'stt.partial':
      case 'stt.final':
        if (this.#held !== undefined && fact.text.trim() !== '') this.#held.words = true;
        return;
      default:
    }
  }

  perform(order: CallAction): void {
    if (order.type === 'playout.pause') this.#held ??= { words: false };
    else if (order.type === 'playout.resume' && this.#held !== undefined) {
      this.#sums[this.#held.words ? 'backchannels' : 'falseStarts'] += 1;
      this.#held = undefined;
    }
  }

  agent(speaks: boolean, now: Millis): void {
    this.#set({ agent: speaks }, now);
  }

  interrupted(now: Millis): void {
    this.#held = undefined;
    this.#set({ agent: false }, now);
  }

  take(now: Millis): SpeechTally {
    this.#count(now);
    // One that goes on is told as far as it has come.
    if (this.#silentSince !== undefined)
      this.#sums.longest = Math.max(this.#sums.longest, now - this.#silentSince);
    const taken = Object.entries(this.#sums).flatMap(([name, sum]) =>
      Math.round(sum) > 0 ? [[name, Math.round(sum)] as const] : [],
    );
    this.#sums = none();
    return Object.fromEntries(taken);
  }

  #set({ caller, agent }: { readonly caller?: boolean; readonly agent?: boolean }, now: Millis): void {
    this.#count(now);
    this.#callerSpeaks = caller ?? this.#callerSpeaks;
    this.#agentSpeaks = agent ?? this.#agentSpeaks;
    const isSilent = !this.#callerSpeaks && !this.#agentSpeaks;
    if (!isSilent && this.#silentSince !== undefined)
      this.#sums.longest = Math.max(this.#sums.longest, now - this.#silentSince);
    this.#silentSince = isSilent ? (this.#silentSince ?? now) : undefined;
  }

  #count(now: Millis): void {
    const passed = Math.max(0, now - this.#countedTo);
    this.#countedTo = Math.max(now, this.#countedTo);
    if (this.#callerSpeaks) this.#sums.caller += passed;
    if (this.#agentSpeaks) this.#sums.agent += passed;
    if (this.#silentSince !== undefined) this.#sums.silence += passed;
  }
}
