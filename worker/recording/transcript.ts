/**
 * The transcript of one call as lines of JSON, read from what the core tells. A line says what happened and how many milliseconds after the
 * call began; texts are whole sentences of a side, never pieces. Pure.
 */
import { notRecorded, type Keys, type Redaction } from '../../shared/calls/privacy/redaction.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallEvent } from '../core/events.ts';
import type { ConversationEvent } from '../core/told.ts';

/** One line, before it is written. */
export type TranscriptLine = Readonly<Record<string, unknown>> & { readonly type: string };

export class Transcript {
  readonly #redaction: Redaction;
  /** What the LLM has said in the running round; a line of the agent comes whole and outside of one. */
  #agentText = '';
  #isInRound = false;
  /** What is said meanwhile is not written down. */
  isPaused = false;

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
  }

  begin(keys: Keys, now: Millis): void {
    this.#redaction.begin(keys, now);
  }

  /** The lines that a fact leads to by itself. */
  fact(fact: CallEvent, now: Millis): TranscriptLine | undefined {
    if (fact.type !== 'dtmf.pressed') return undefined;
    const digit = this.#redaction.pressed(fact.digit, now);
    return { type: 'dtmf', digit: this.isPaused ? notRecorded : digit };
  }

  /** The line that something told leads to. `heard`: the end of the conversation as the caller heard it. */
  told(event: ConversationEvent, heard: () => string): TranscriptLine | undefined {
    switch (event.type) {
      case 'user.text':
        return { type: 'caller', epoch: event.epoch, text: this.#kept(event.text) };
      case 'bot.llm_started':
        this.#isInRound = true;
        return undefined;
      case 'bot.text':
        this.#agentText += event.text;
        return this.#isInRound ? undefined : this.#said(event.epoch);
      case 'bot.llm_stopped':
        this.#isInRound = false;
        return this.#said(event.epoch);
      case 'tools.answered':
        return { type: 'tools', calls: event.pairs.map(({ call, text }) => this.#toolOf(call, text)) };
      case 'turn.user_started':
      case 'turn.user_ended':
      case 'turn.bot_started':
      case 'turn.bot_ended':
        return { type: event.type, epoch: event.epoch };
      case 'turn.interrupted':
        return { type: 'interrupted', epoch: event.epoch, heard: this.#kept(heard()) };
      case 'turn.measured':
        return { type: 'times', epoch: event.epoch, ...rounded(event.times) };
      case 'fault.noticed':
        return { type: 'fault', stage: event.stage, what: event.what };
      case 'operator.text':
        return { type: 'operator', text: this.#kept(event.text) };
      case 'operator.took_over':
        return { type: 'taken_over', epoch: event.epoch };
      case 'operator.handed_back':
        return { type: 'handed_back', epoch: event.epoch, how: event.how };
      case 'agent.changed':
        return { type: 'agent_changed', agent: event.agent };
      case 'node.entered':
        return { type: 'node', node: event.node };
      default:
        return undefined;
    }
  }

  #said(epoch: number): TranscriptLine | undefined {
    const text = this.#agentText.trim();
    this.#agentText = '';
    return text === '' ? undefined : { type: 'agent', epoch, text: this.#kept(text) };
  }

  #kept(text: string): string {
    return this.isPaused ? notRecorded : this.#redaction.text(text);
  }

  #toolOf(call: { readonly name: string; readonly arguments: string }, result: string): object {
    const { name } = call;
    return { name, arguments: this.#kept(call.arguments), result: this.#kept(result) };
  }
}

const rounded = (times: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(times).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number' ? Math.round(value) : value,
    ]),
  );
