/**
 * What operators read of a call: its texts without what must not be kept, as its transcript has them. A number may be spread over pieces of a
 * text, so where something is taken out they get whole texts alone. Pure.
 */
import type { Keys, Redaction } from '../../shared/calls/privacy/redaction.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { ConversationMessage } from '../../shared/protocol/conversation.ts';
import type { OperatorText } from '../../shared/monitor/messages.ts';

type Shown = ConversationMessage | OperatorText;

export class ShownWords {
  readonly #redaction: Redaction;
  /** What the LLM has written in the running round, as far as it is held back. */
  #held = '';
  #isInRound = false;

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
  }

  begin(keys: Keys, now: Millis): void {
    this.#redaction.begin(keys, now);
  }

  pressed(digit: string, now: Millis): void {
    this.#redaction.pressed(digit, now);
  }

  of(message: Shown): readonly Shown[] {
    if (message.type === 'bot.llm_started') this.#isInRound = true;
    if (message.type === 'bot.llm_stopped') {
      this.#isInRound = false;
      return [...this.#rest(message.epoch), message];
    }
    return this.#redaction.isIdle ? [message] : this.#shown(message);
  }

  #shown(message: Shown): readonly Shown[] {
    switch (message.type) {
      case 'user.transcript':
      case 'bot.tts_text':
        return [];
      case 'bot.heard': {
        const { heard } = message;
        if (heard === undefined) return [];
        const text = this.#redaction.text(heard);
        return [{ ...message, text, heard: text }];
      }
      case 'bot.text':
        if (!this.#isInRound) return [{ ...message, text: this.#redaction.text(message.text) }];
        this.#held += message.text;
        return [];
      case 'user.text':
      case 'operator.text':
        return [{ ...message, text: this.#redaction.text(message.text) }];
      default:
        return [message];
    }
  }

  #rest(epoch: number): readonly Shown[] {
    const text = this.#redaction.text(this.#held);
    this.#held = '';
    return text === '' ? [] : [{ type: 'bot.text', epoch, text }];
  }
}
