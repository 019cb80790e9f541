/**
 * When the agent is heard. Sound tells it until the service has told of the agent's speech; from then on it takes both, because a sound
 * behind the voice may be there all the time. Pure. Invariant: `started` and `ended` alternate. Times are ms of the audio clock.
 */
import type { ConversationEvent } from './conversation-events.ts';

const SPEAKS: Partial<Record<ConversationEvent['type'], boolean>> = {
  'turn.bot_started': true,
  'turn.bot_ended': false,
  'turn.interrupted': false,
};

/** The word of the service may come this much behind the sound. */
const WORD_LATE_MS = 300;

export interface VoiceChange {
  readonly type: 'started' | 'ended';
  readonly atMs: number;
}

export class AgentVoice {
  #soundedMs: number | undefined;
  /** Undefined until the service has said so. */
  #speaks: boolean | undefined;
  #isHeard = false;

  /** Something can be heard, from then on. */
  sounded(atMs: number): VoiceChange | undefined {
    this.#soundedMs ??= atMs;
    return this.#look(atMs);
  }

  /** Nothing can be heard. */
  fellSilent(atMs: number): VoiceChange | undefined {
    this.#soundedMs = undefined;
    return this.#look(atMs);
  }

  /** The service tells something of the conversation: that the agent speaks, or does not any more, or something else. */
  told(event: ConversationEvent['type'], nowMs: number): VoiceChange | undefined {
    const speaks = SPEAKS[event];
    if (speaks === undefined) return undefined;
    this.#speaks = speaks;
    const isNew = this.#soundedMs !== undefined && nowMs - this.#soundedMs < WORD_LATE_MS;
    return this.#look(speaks && isNew ? (this.#soundedMs ?? nowMs) : nowMs);
  }

  #look(atMs: number): VoiceChange | undefined {
    const isHeard = this.#soundedMs !== undefined && this.#speaks !== false;
    if (isHeard === this.#isHeard) return undefined;
    this.#isHeard = isHeard;
    return { type: isHeard ? 'started' : 'ended', atMs };
  }
}
