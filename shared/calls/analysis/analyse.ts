/** Asks an LLM about one call: once, and a second time with what was wrong. */
import { fail, ok, type Result } from '../../base/result.ts';
import type { CallRecord } from '../record.ts';
import type { AnalysisTask } from './agent-file.ts';
import {
  AnswerReader,
  complaintOf,
  instructionsOf,
  transcriptText,
  withoutUnshown,
  type AnalysisResult,
} from './task.ts';

export interface AskedMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

export interface AnalysisUsage {
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
}

/** An answer and what it took; the error is a word of ours. */
export type AskAnalyst = (
  messages: readonly AskedMessage[],
) => Promise<Result<{ readonly text: string; readonly usage?: AnalysisUsage | undefined }, string>>;

export interface Analysed {
  readonly result: AnalysisResult;
  readonly usage: AnalysisUsage;
}

/** `isFinal`: no answer was valid, and another try would cost the same again. */
export interface AnalysisFailure {
  readonly reason: string;
  readonly isFinal: boolean;
  /** What it took all the same. */
  readonly usage?: AnalysisUsage;
}

export const nothingUsed: AnalysisUsage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 };

export async function analyse(
  record: Pick<CallRecord, 'transcript'>,
  task: AnalysisTask,
  ask: AskAnalyst,
): Promise<Result<Analysed, AnalysisFailure>> {
  const reader = new AnswerReader(task, record);
  const messages: AskedMessage[] = [
    { role: 'system', text: instructionsOf(task) },
    { role: 'user', text: transcriptText(record) },
  ];
  let usage: AnalysisUsage = nothingUsed;
  for (let isLast = false; ; isLast = true) {
    const answer = await ask(messages);
    if (!answer.ok) return fail({ reason: answer.error, isFinal: false, usage });
    usage = addedUsage(usage, answer.value.usage);
    const read = reader.read(answer.value.text);
    if (read.ok) return ok({ result: read.value, usage });
    if (isLast) {
      const { error } = read;
      if (error.kind === 'form') return fail({ reason: 'invalid_answer', isFinal: true, usage });
      return ok({ result: withoutUnshown(error.result, error.names), usage });
    }
    messages.push(
      { role: 'assistant', text: answer.value.text },
      { role: 'user', text: complaintOf(read.error) },
    );
  }
}

export const addedUsage = (a: AnalysisUsage, b: AnalysisUsage | undefined): AnalysisUsage => ({
  input_tokens: a.input_tokens + (b?.input_tokens ?? 0),
  cached_tokens: a.cached_tokens + (b?.cached_tokens ?? 0),
  output_tokens: a.output_tokens + (b?.output_tokens ?? 0),
});
