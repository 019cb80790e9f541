/** What an answer cost, by kind of token. Parts are inside the totals, and thinking is inside the text. Pure. */
import { countOf, recordOf, type JsonRecord } from '../../json.ts';
import type { RealtimeUsage } from '../contract.ts';

const inside = (fields: JsonRecord, key: string): JsonRecord => recordOf(fields[key]) ?? {};

export function usageIn(value: unknown): RealtimeUsage | undefined {
  const usage = recordOf(value);
  if (usage === undefined) return undefined;
  const input = inside(usage, 'input_token_details');
  const output = inside(usage, 'output_token_details');
  return {
    inputTokens: countOf(usage['input_tokens']),
    outputTokens: countOf(usage['output_tokens']),
    cachedTokens: countOf(input['cached_tokens']),
    inputAudioTokens: countOf(input['audio_tokens']),
    outputAudioTokens: countOf(output['audio_tokens']),
    cachedAudioTokens: countOf(inside(input, 'cached_tokens_details')['audio_tokens']),
    reasoningTokens: countOf(output['reasoning_tokens']),
  };
}
