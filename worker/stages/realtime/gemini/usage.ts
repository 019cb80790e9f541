/**
 * Tokens of a session, as increments for each answer. The service counts turn by turn and may say the count of a turn more than once, growing; it
 * may also say it behind the end of the answer, which then counts with the next one. Pure.
 */
import { countOf, listOf, recordOf, type JsonRecord } from '../../json.ts';
import type { RealtimeUsage } from '../contract.ts';

type Counts = { -readonly [K in keyof RealtimeUsage]: number };

const nothing = (): Counts => ({
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  cachedAudioTokens: 0,
  reasoningTokens: 0,
});

const names = Object.keys(nothing()) as (keyof Counts)[];

const audioIn = (...details: unknown[]): number =>
  details
    .flatMap(listOf)
    .map((detail) => recordOf(detail))
    .filter((detail) => detail?.['modality'] === 'AUDIO')
    .reduce((sum, detail) => sum + countOf(detail?.['tokenCount']), 0);

/** The total of the service may leave out thoughts, so that parts are added up here. */
function countsIn(metadata: JsonRecord): Counts {
  const thoughts = countOf(metadata['thoughtsTokenCount']);
  return {
    inputTokens: countOf(metadata['promptTokenCount']) + countOf(metadata['toolUsePromptTokenCount']),
    outputTokens: countOf(metadata['responseTokenCount']) + thoughts,
    cachedTokens: countOf(metadata['cachedContentTokenCount']),
    inputAudioTokens: audioIn(metadata['promptTokensDetails'], metadata['toolUsePromptTokensDetails']),
    outputAudioTokens: audioIn(metadata['responseTokensDetails']),
    cachedAudioTokens: audioIn(metadata['cacheTokensDetails']),
    reasoningTokens: thoughts,
  };
}

export class SessionUsage {
  /** Of turns that are over, as far as no answer has told it. */
  #over = nothing();
  #turn = nothing();

  count(metadata: JsonRecord): void {
    const next = countsIn(metadata);
    for (const name of names) this.#turn[name] = Math.max(this.#turn[name], next[name]);
  }

  /** What is counted from here on is of another turn. */
  endTurn(): void {
    for (const name of names) this.#over[name] += this.#turn[name];
    this.#turn = nothing();
  }

  /** What no answer has told yet; nothing where nothing was counted. */
  take(): RealtimeUsage | undefined {
    const told = nothing();
    for (const name of names) {
      told[name] = this.#over[name] + this.#turn[name];
      this.#over[name] = -this.#turn[name];
    }
    return names.some((name) => told[name] > 0) ? told : undefined;
  }
}
