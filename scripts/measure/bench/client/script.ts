/** What is said and how fast: the one place of the figures that providers, callers and report must agree on. */

import type { NoiseMode } from '../../../../shared/protocol/noise-mode.ts';
import { english } from '../../../../shared/languages/english.ts';
import { modelTable } from '../../scripted-model.ts';
import { providerTables, type Ports } from '../../scripted-providers.ts';

export const greeting = 'Good evening, this is the bench. How can I help you today?';
export const answer = 'Your table for two is booked. We are looking forward to seeing you tonight.';

/** With these the service says that it has no answer. */
export const excuses = [english.lines.apology, english.lines.misheard];

/** Speech of the fake voice takes this long for each word. */
export const wordMs = 300;
export const wordsOf = (text: string): number => text.trim().split(/\s+/).length;
/** Frames that a whole spoken text has. */
export const framesOfText = (text: string): number => (wordsOf(text) * wordMs) / 20;

/** The pace of the fake providers. */
export const pace = {
  sttFinalMs: 60,
  llmFirstMs: 150,
  llmDeltaMs: 20,
  ttsFirstMs: 120,
  ttsChunkMs: 200,
  ttsChunkEveryMs: 50,
} as const;

/** The turn settings of the agent file, which the report takes out or counts from. */
export const turn = { silenceEndMs: 700, interruptMinSpeechMs: 300 } as const;

/** With `model`, the port of one, it hears and speaks by itself, and writes down what it hears. */
export function agentFile(
  ports: Ports,
  {
    silenceEndMs = turn.silenceEndMs,
    model,
    noise = 'off',
  }: { silenceEndMs?: number; model?: number | undefined; noise?: NoiseMode } = {},
): string {
  return `
[agent]
name = "bench"
language = "en"
prompt = "You take bookings."
greeting = "${greeting}"

[audio]
noise = "${noise}"

[turn]
silence_end_ms = ${silenceEndMs}

[turn.interrupt]
min_speech_ms = ${turn.interruptMinSpeechMs}
${providerTables(ports, 'bench')}${model === undefined ? '' : modelTable(model, 'vendor')}`;
}
