/** From the decision that a turn is over to the first audio of its answer: what the service itself adds to its providers. */
import { pace, providersMs } from './client/script.ts';
import { Distribution, type Summary } from './report/statistics.ts';

/** Parts of an answered turn after the decision, as the service's log has them. */
export interface AnsweredTurn {
  readonly sttFinalMs: number;
  readonly llmTtftMs: number;
  readonly ttsTtfbMs: number;
  readonly wireMs: number;
}

export interface DecisionToAudio {
  readonly whole: Summary;
  /** Without the time that the providers take. */
  readonly own: Summary;
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

export function decisionToAudio(turns: readonly AnsweredTurn[]): DecisionToAudio {
  const whole = new Distribution();
  const own = new Distribution();
  for (const { sttFinalMs, llmTtftMs, ttsTtfbMs, wireMs } of turns) {
    const sum = sttFinalMs + llmTtftMs + ttsTtfbMs + wireMs;
    whole.add(sum);
    // An answer that was asked for during the silence waits for nothing but TTS.
    own.add(sum - (llmTtftMs < pace.llmFirstMs / 2 ? pace.ttsFirstMs : providersMs));
  }
  return { whole: whole.summary(), own: own.summary() };
}
