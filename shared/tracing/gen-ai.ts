/**
 * Names of OpenTelemetry's conventions for models: the one place to correct, because they still move (gen-ai 1.42.0, Development). Parts of a
 * count are inside its total, and what was read from a cache is inside the input.
 */

/** What a provider counted, by the units of `svc_provider_units_total`. */
export const usageNames = {
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  cached_tokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoning_tokens: 'gen_ai.usage.reasoning.output_tokens',
  text_input_tokens: 'gen_ai.usage.text.input_tokens',
  audio_input_tokens: 'gen_ai.usage.audio.input_tokens',
  text_output_tokens: 'gen_ai.usage.text.output_tokens',
  audio_output_tokens: 'gen_ai.usage.audio.output_tokens',
  text_cached_tokens: 'gen_ai.usage.text.cache_read.input_tokens',
  audio_cached_tokens: 'gen_ai.usage.audio.cache_read.input_tokens',
} as const;

export type TokenUnit = keyof typeof usageNames;

/** The models that an agent file names; a server may choose by itself. */
export interface TracedModels {
  readonly llm: string | undefined;
  /** Absent where no model speaks by itself. */
  readonly realtime?: { readonly model: string | undefined; readonly output: 'audio' | 'text' } | undefined;
}

export interface RealtimeAnswer {
  readonly model: string | undefined;
  /** The id of the call. */
  readonly conversation: string;
  /** As the provider names its session. */
  readonly session: string | undefined;
  readonly output: 'audio' | 'text';
}

/** The span of one answer of a model that speaks by itself; a session has none. */
export const realtimeSpan = ({
  model,
  conversation,
  session,
  output,
}: RealtimeAnswer): {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
} => ({
  name: model === undefined ? 'realtime_inference' : `realtime_inference ${model}`,
  attributes: {
    'gen_ai.operation.name': 'realtime_inference',
    'gen_ai.request.model': model,
    'gen_ai.output.type': output === 'audio' ? 'speech' : 'text',
    'gen_ai.conversation.id': conversation,
    'gen_ai.realtime_session.id': session,
  },
});
