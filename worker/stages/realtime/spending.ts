/** What an answer of a speaking model cost, in the units that are counted and traced. Pure. */
import type { TokenUnit } from '../../../shared/tracing/gen-ai.ts';
import type { ProviderMeter } from '../failover/provider.ts';
import type { RealtimeUsage } from './contract.ts';

/** Parts are never more than their total, whatever a provider counts. */
const rest = (total: number, part: number): number => Math.max(0, total - part);

const amounts = (usage: RealtimeUsage): Readonly<Record<TokenUnit, number>> => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cached_tokens: usage.cachedTokens,
  reasoning_tokens: usage.reasoningTokens,
  text_input_tokens: rest(usage.inputTokens, usage.inputAudioTokens),
  audio_input_tokens: usage.inputAudioTokens,
  text_output_tokens: rest(usage.outputTokens, usage.outputAudioTokens),
  audio_output_tokens: usage.outputAudioTokens,
  text_cached_tokens: rest(usage.cachedTokens, usage.cachedAudioTokens),
  audio_cached_tokens: usage.cachedAudioTokens,
});

/** Counts an answer where the provider's figures go: into metrics, and into the span of the answer and the record of the call where these are kept. `isLate`: it was cancelled before. */
export function spendAnswer(
  meter: Pick<ProviderMeter, 'spent'>,
  usage: RealtimeUsage,
  { isLate = false } = {},
): void {
  const all = Object.entries(amounts(usage)) as [TokenUnit, number][];
  for (const [unit, amount] of all) meter.spent(unit, amount, isLate);
}
