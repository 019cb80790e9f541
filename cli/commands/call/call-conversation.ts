/**
 * The events by which a client follows the conversation (docs/call-protocol.md, Following the conversation), as lines for a person
 * at a terminal: what was heard of the caller, what the agent said, and where the time of an answer went. The decoder is the client's own, as in
 * call-wire.ts.
 */
import * as z from 'zod';
import { printable } from '../printable.ts';

const epoch = z.int().min(0);
const ms = z.number().min(0).optional();

const toldMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('user.transcript'), text: z.string(), final: z.boolean() }),
  z.object({ type: z.literal('user.text'), epoch, text: z.string() }),
  z.object({ type: z.literal('bot.tts_text'), epoch, text: z.string() }),
  z.object({ type: z.literal('turn.interrupted'), epoch }),
  z.object({ type: z.literal('agent.changed'), agent: z.string() }),
  z.object({
    type: z.literal('turn.metrics'),
    epoch,
    metrics: z.object({
      end_of_turn_ms: ms,
      stt_final_ms: ms,
      llm_ttft_ms: ms,
      tts_ttfb_ms: ms,
      response_ms: ms,
    }),
  }),
  z.object({ type: z.literal('stage.failed'), stage: z.string(), reason: z.string() }),
]);
export type ToldMessage = z.infer<typeof toldMessage>;

/** What a caller asks to be told, for `start.events`. */
export const toldTypes: readonly string[] = toldMessage.options.map(({ shape }) => shape.type.value);

/** Reads a message of one of the {@link toldTypes}; the error names the fields that are not as specified. */
export function readTold(json: unknown): ToldMessage | { readonly wrong: string } {
  const message = toldMessage.safeParse(json);
  if (message.success) return message.data;
  return { wrong: message.error.issues.map((issue) => issue.path.join('.')).join(', ') };
}

/** A line of the timeline; `isFault`: something did not do what it owed. */
export interface ToldLine {
  readonly what: string;
  readonly isFault?: true;
}

/** Turns what is told into lines, in order. */
export class ConversationLines {
  /** Final words since the last turn. */
  #heard: string[] = [];
  /** How often each fault came. */
  readonly #faults = new Map<string, number>();

  take(message: ToldMessage): ToldLine | undefined {
    switch (message.type) {
      case 'user.transcript':
        if (!message.final || message.text.trim() === '') return undefined;
        this.#heard.push(message.text.trim());
        return { what: `heard: ${printable(message.text)}` };
      case 'user.text': {
        const heard = this.#heard.join(' ');
        this.#heard = [];
        return message.text.trim() === heard ? undefined : { what: `answers: ${printable(message.text)}` };
      }
      case 'bot.tts_text':
        return message.text.trim() === '' ? undefined : { what: `agent: ${printable(message.text)}` };
      case 'turn.interrupted':
        return { what: 'the answer was interrupted' };
      case 'agent.changed':
        return { what: `another agent has the call: ${printable(message.agent)}` };
      case 'turn.metrics':
        return { what: shownMetrics(message.metrics) };
      case 'stage.failed':
        return this.#fault(`${printable(message.stage)} failed: ${printable(message.reason)}`);
    }
  }

  /** A stage that is gone fails several times a second: one line for it, and one for each tenfold. */
  #fault(what: string): ToldLine | undefined {
    const times = (this.#faults.get(what) ?? 0) + 1;
    this.#faults.set(what, times);
    if (times === 1)
      return { what: `${what}; the log of the service names the provider and what to change`, isFault: true };
    return /^10+$/.test(String(times)) ? { what: `${what} (${times} times)`, isFault: true } : undefined;
  }
}

type Metrics = Extract<ToldMessage, { type: 'turn.metrics' }>['metrics'];

const parts: readonly (readonly [keyof Metrics, string])[] = [
  ['end_of_turn_ms', 'end of turn'],
  ['stt_final_ms', 'last words'],
  ['llm_ttft_ms', 'first text'],
  ['tts_ttfb_ms', 'first sound'],
];

function shownMetrics(metrics: Metrics): string {
  const shown = parts.flatMap(([key, name]) => {
    const value = metrics[key];
    return value === undefined ? [] : [`${name} ${Math.round(value)} ms`];
  });
  const whole = metrics.response_ms === undefined ? '' : ` after ${Math.round(metrics.response_ms)} ms`;
  return `the answer begins${whole}${shown.length === 0 ? '' : ` (${shown.join(', ')})`}`;
}
