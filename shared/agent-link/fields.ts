/** Kinds of fields that several messages of the agent link have. Each says its rule in words that hold no value. */
import * as z from 'zod';
import { utf8Bytes } from '../protocol/call.ts';
import { agentLinkLimits as limits } from './limits.ts';

/** A text of at most so many bytes of UTF-8. */
export const textOf = (mostBytes: number): z.ZodString =>
  z.string().refine((text) => utf8Bytes(text) <= mostBytes, `must be at most ${mostBytes} bytes`);

/** The first bytes of a text, no character cut in two. */
export function cutTo(text: string, bytes: number): string {
  if (utf8Bytes(text) <= bytes) return text;
  return new TextDecoder('utf-8').decode(Buffer.from(text, 'utf8').subarray(0, bytes), { stream: true });
}

/** What an agent wrote, as one line for a log. */
export const lineOf = (text: string, mostChars: number): string =>
  text
    .slice(0, mostChars)
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();

/** A text that says something. */
export const spokenText = textOf(limits.sayBytes).refine((text) => text.trim() !== '', 'must not be empty');

const clientName = textOf(limits.clientNameBytes);

/** What the program of a caller and the agent tell each other beside the conversation. */
export const clientMessageShape = {
  name: clientName.meta({ description: 'What the client calls its message.' }),
  message_id: clientName.meta({
    description: 'Names it in `client.send.answers`; empty: no answer is expected.',
  }),
  data: z.json().meta({ description: 'As it came from the client; null where it brought nothing.' }),
};

export const clientAnswerShape = {
  data: z.json(),
  answers: clientName
    .exactOptional()
    .meta({ description: 'The `message_id` of the message that this answers.' }),
  name: clientName.exactOptional().meta({ description: 'The `name` of the message that this answers.' }),
};

export const counter = z.int().min(0);
export const epochField = counter.meta({ description: 'Number of the turn.' });

export const contextMessageSchema = z
  .object({
    role: z.enum(['system', 'user', 'assistant']),
    text: z.string().refine((text) => text.trim() !== '', 'must not be empty'),
  })
  .meta({ description: 'A message of the conversation.' });

export type LinkContextMessage = z.output<typeof contextMessageSchema>;
