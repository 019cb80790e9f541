/** `[agent.outage]`: what callers get while a provider is down and nothing stands in for it. */
import * as z from 'zod';

const line = z.string().max(1000);

export const outageKeys = z.strictObject({
  keep_s: z.int().min(0).max(3600).default(60).meta({
    description:
      'How long a call is kept, with apologies, while a provider is down; then it is ended with the farewell. 0: at the third failure in a row.',
  }),
  hold: line.min(1).exactOptional().meta({
    sample: 'I am still having trouble. Please stay on the line.',
    description: 'Spoken when an answer failed again; absent: the text of the language.',
  }),
  back: line.exactOptional().meta({
    sample: 'Thank you for waiting.',
    description:
      'Spoken before the answer, when a further attempt works; empty: nothing, absent: the text of the language.',
  }),
});

export interface OutageTexts {
  readonly keepS: number;
  readonly hold: string;
  readonly back: string;
  /** What the LLM is told; not a key. */
  readonly unheardNote: string;
}
