/** The models that the agent file names, by stage and provider: prices depend on them. Pure. */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';

/** `llm llm_chat` → `gpt-4.1`; a provider that chooses by itself has none. */
export function modelsOf({
  stt,
  llm,
  tts,
  realtime,
}: Pick<AgentDefinition, 'stt' | 'llm' | 'tts' | 'realtime'>): ReadonlyMap<string, string> {
  const models = new Map<string, string>();
  const note = (
    stage: string,
    { provider, options }: { readonly provider: string; readonly options: object },
  ): void => {
    const model: unknown = Reflect.get(options, 'model');
    if (typeof model === 'string') models.set(`${stage} ${provider}`, model);
  };
  for (const [stage, definition] of Object.entries({ stt, llm, tts })) {
    // Both may be the same provider with two models; the first one is used most.
    if (definition?.secondary !== undefined) note(stage, definition.secondary);
    if (definition !== undefined) note(stage, definition);
  }
  if (realtime !== undefined) note('realtime', realtime);
  return models;
}
