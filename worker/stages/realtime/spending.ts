/** What an answer of a speaking model cost, in the units that are counted and traced. Pure. */
import type { TokenUnit } from '../../../shared/tracing/gen-ai.ts';
import type { ProviderMeter } from '../failover/provider.ts';
import type { RealtimeUsage } from './contract.ts';

/** Parts are never more than their total, whatever a provider counts. */
function amounts(usage: RealtimeUsage): Readonly<Record<TokenUnit, number>> {
  const { inputTokens: input, outputTokens: output, cachedTokens: cached } = usage;
  const inputAudio = Math.min(input, usage.inputAudioTokens);
  const outputAudio = Math.min(output, usage.outputAudioTokens);
  const cachedAudio = Math.min(cached, usage.cachedAudioTokens);
  return {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: cached,
    reasoning_tokens: usage.reasoningTokens,
    text_input_tokens: input - inputAudio,
    audio_input_tokens: inputAudio,
    text_output_tokens: output - outputAudio,
    audio_output_tokens: outputAudio,
    text_cached_tokens: cached - cachedAudio,
    audio_cached_tokens: cachedAudio,
  };
}

/** Counts an answer where the provider's figures go: into metrics, and into the span of the answer and the record of the call where these are kept. `isLate`: it was cancelled before. */
export function spendAnswer(
  meter: Pick<ProviderMeter, 'spent'>,
  usage: RealtimeUsage,
  { isLate = false } = {},
): void {
  const all = Object.entries(amounts(usage)) as [TokenUnit, number][];
  for (const [unit, amount] of all) meter.spent(unit, amount, isLate);
}
