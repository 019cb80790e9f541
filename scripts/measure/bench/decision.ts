/** From the decision that a turn is over to the first audio of its answer. */
import { Distribution, type Summary } from './report/statistics.ts';

/** Parts of an answered turn after the decision, as the service's log has them. */
export interface AnsweredTurn {
  readonly sttFinalMs: number;
  readonly llmTtftMs: number;
  readonly ttsTtfbMs: number;
  readonly wireMs: number;
}

export const readTurn = (line: Readonly<Record<string, unknown>>): AnsweredTurn => {
  const number = (name: string): number => Number(line[name]);
  return {
    sttFinalMs: number('sttFinalMs'),
    llmTtftMs: number('llmTtftMs'),
    ttsTtfbMs: number('ttsTtfbMs'),
    wireMs: number('wireMs'),
  };
};

export function decisionToAudio(turns: readonly AnsweredTurn[]): Summary {
  const whole = new Distribution();
  for (const { sttFinalMs, llmTtftMs, ttsTtfbMs, wireMs } of turns)
    whole.add(sttFinalMs + llmTtftMs + ttsTtfbMs + wireMs);
  return whole.summary();
}
