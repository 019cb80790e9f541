/**
 * When the agent is heard. It takes a sound and the word of the service that the agent speaks, because a sound behind the voice may be there
 * all the time, also before the agent has said anything. Where the service is asked for no such word, sound alone tells.
 * Pure. Invariant: `started` and `ended` alternate. Times are ms of the audio clock.
 */
import type { ConversationEvent, ConversationEventName } from './conversation-events.ts';

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
  #isHeard = false;
  /** By the word of the service; where it tells nothing, always. */
  #speaks: boolean;

  /** @param events that the service is asked for. */
  constructor(events: readonly ConversationEventName[]) {
    this.#speaks = !(events.includes('turn.bot_started') && events.includes('turn.bot_ended'));
  }

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
    const isHeard = this.#soundedMs !== undefined && this.#speaks;
    if (isHeard === this.#isHeard) return undefined;
    this.#isHeard = isHeard;
    return { type: isHeard ? 'started' : 'ended', atMs };
  }
}
