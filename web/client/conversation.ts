/**
 * The lines of a conversation, made from the events of the service: what the caller said, what the agent says, and where it was cut.
 *
 * Invariant: at most `LIMIT` lines of bounded length; a line that is done or cut does not change any more. Text of a response that
 * was interrupted and arrives late is left out.
 */
import type { ConversationEvent } from './conversation-events.ts';

export interface ConversationLine {
  /** Rises from line to line. */
  readonly id: number;
  readonly who: 'caller' | 'agent';
  /** Which agent says it, where another one than the first has the call. */
  readonly agent?: string;
  readonly text: string;
  /** `open`: more may come. `cut`: the caller interrupted the agent here, so not all of it was heard. */
  readonly state: 'open' | 'done' | 'cut';
  /** Characters from the beginning that were surely heard, where the service tells; what lies behind them in a line that was cut was not. */
  readonly heard?: number;
}

const LIMIT = 300;
const MAX_TEXT = 8_000;
const MAX_NAME = 100;

interface Line {
  readonly id: number;
  readonly who: 'caller' | 'agent';
  readonly agent?: string;
  readonly epoch: number;
  text: string;
  state: ConversationLine['state'];
  heard?: number;
}

export class Conversation {
  readonly #lines: Line[] = [];
  /** Segments of the caller's turn that are certain. */
  #certain = '';
  /** The agent that has the call, where the first one has handed it over. */
  #agent: string | undefined;
  #cutBefore = Number.NEGATIVE_INFINITY;
  #nextId = 1;

  get lines(): readonly ConversationLine[] {
    return this.#lines;
  }

  /** Takes an event. Returns the line that it changed. */
  take(event: ConversationEvent): ConversationLine | undefined {
    switch (event.type) {
      case 'user.transcript':
        return this.#heard(event.text, event.final);
      case 'user.text':
        return this.#understood(event.text);
      case 'bot.text':
        return this.#answered(event.epoch, event.text);
      case 'bot.heard':
        return this.#wasHeard(event.epoch, event.text);
      case 'turn.bot_ended':
        return this.#finish(
          this.#openOf('agent', (line) => line.epoch === event.epoch),
          'done',
        );
      case 'turn.interrupted':
        this.#cutBefore = event.epoch;
        return this.#finish(
          this.#openOf('agent', (line) => line.epoch < event.epoch),
          'cut',
        );
      case 'agent.changed':
        this.#agent = event.agent.slice(0, MAX_NAME);
        return this.#finish(this.#openOf('agent'), 'done');
      case 'turn.user_started':
      case 'turn.user_ended':
      case 'turn.bot_started':
      case 'bot.tts_text':
      case 'turn.metrics':
      case 'stage.failed':
        return undefined;
    }
  }

  /** The call is over: nothing changes any more. */
  close(): void {
    for (const line of this.#lines) if (line.state === 'open') line.state = 'done';
  }

  #heard(text: string, isFinal: boolean): Line {
    const line = this.#openOf('caller') ?? this.#begin('caller', 0);
    const whole = [this.#certain, text].filter((part) => part !== '').join(' ');
    if (isFinal) this.#certain = whole.slice(0, MAX_TEXT);
    return this.#write(line, whole);
  }

  #understood(text: string): Line {
    const line = this.#write(this.#openOf('caller') ?? this.#begin('caller', 0), text);
    line.state = 'done';
    this.#certain = '';
    return line;
  }

  #answered(epoch: number, text: string): Line | undefined {
    if (epoch < this.#cutBefore) return undefined;
    const known = this.#lines.findLast(({ who }) => who === 'agent');
    if (known?.epoch === epoch && known.state === 'open')
      return this.#write(known, `${known.text}${gapBetween(known.text, text)}${text}`);
    if (text.trim() === '') return undefined;
    // Words of the caller that led to no turn stay as they are.
    this.#finish(this.#openOf('caller'), 'done');
    this.#certain = '';
    this.#finish(this.#openOf('agent'), 'done');
    return this.#write(this.#begin('agent', epoch), text.trimStart());
  }

  #wasHeard(epoch: number, text: string): Line | undefined {
    const line = this.#openOf('agent', (one) => one.epoch === epoch);
    if (line !== undefined) line.heard = placeBehind(line.text, line.heard ?? 0, text);
    return line;
  }

  #openOf(who: Line['who'], fits: (line: Line) => boolean = () => true): Line | undefined {
    return this.#lines.findLast((line) => line.who === who && line.state === 'open' && fits(line));
  }

  #begin(who: Line['who'], epoch: number): Line {
    const agent = who === 'agent' ? this.#agent : undefined;
    const line: Line = {
      id: this.#nextId,
      who,
      ...(agent !== undefined && { agent }),
      epoch,
      text: '',
      state: 'open',
    };
    this.#nextId += 1;
    this.#lines.push(line);
    if (this.#lines.length > LIMIT) this.#lines.shift();
    return line;
  }

  #write(line: Line, text: string): Line {
    line.text = text.slice(0, MAX_TEXT);
    return line;
  }

  #finish(line: Line | undefined, state: 'done' | 'cut'): Line | undefined {
    if (line !== undefined) line.state = state;
    return line;
  }
}

/** Where `part` ends in a text behind `from`: by its letters, because spaces differ between what is written and what is said. */
function placeBehind(text: string, from: number, part: string): number {
  let left = part.replaceAll(/\s/g, '').length;
  let at = from;
  while (at < text.length && left > 0) {
    if (/\S/.test(text.charAt(at))) left -= 1;
    at += 1;
  }
  return at;
}

/** Deltas bring their spaces with them; two sentences that were spoken separately do not. */
const gapBetween = (before: string, after: string): string =>
  /[.!?…]$/.test(before) && /^\p{Lu}/u.test(after) ? ' ' : '';
