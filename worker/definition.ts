/** From the agent file's definition to what calls run on. */
import type { AgentDefinition } from '../shared/config/agent-file.ts';
import type { LlmChoice, SttChoice, TtsChoice } from '../shared/config/stages/definition.ts';
import type { Sensitive } from '../shared/config/sensitive.ts';
import { defaultCallLimits, type CallSettings } from './core/settings.ts';
import type { SpeechDetectorSettings } from './media/speech-detector.ts';
import type { StageDefinitions } from './stages/registry.ts';
import type { ToolSettings } from './tools/registry.ts';

export function callSettings({ agent, turn, llm }: AgentDefinition): CallSettings {
  return {
    prompt: agent.prompt,
    greeting: agent.greeting,
    farewell: agent.farewell,
    apology: agent.apology,
    pronounce: agent.pronounce,
    endCallTool: agent.tools?.includes('end_call') ?? true,
    maxCallMs: agent.maxCallS * 1000,
    contextWindowTokens: llm.contextWindowTokens,
    turn: {
      minSpeechMs: turn.minSpeechMs,
      stopMs: turn.stopMs,
      silenceEndMs: turn.silenceEndMs,
      maxSilenceMs: turn.maxSilenceMs,
    },
    interrupt: {
      enabled: turn.interrupt.enabled,
      resumeAfterMs: turn.interrupt.resumeAfterMs,
      dtmf: turn.interrupt.dtmf,
    },
    idle: { askAfterMs: turn.idle.askAfterS * 1000, ask: turn.idle.ask, endAfter: turn.idle.endAfter },
    limits: defaultCallLimits,
  };
}

/** What the registry of tools takes. */
export const toolSettings = ({ agent, tools, mcp, telephony, flow }: AgentDefinition): ToolSettings => ({
  tools,
  mcp,
  telephony,
  ...(flow !== undefined && { flow }),
  ...(agent.tools !== undefined && { agentTools: agent.tools }),
});

export const speechSettings = ({ turn }: AgentDefinition): SpeechDetectorSettings => ({
  threshold: turn.vadThreshold,
  minSpeechMs: turn.minSpeechMs,
  confirmMs: turn.interrupt.minSpeechMs,
  stopMs: turn.stopMs,
});

export function stageDefinitions({ stt, llm, tts }: AgentDefinition): StageDefinitions {
  const { language, sampleRate } = tts;
  const sttOf = (one: SttChoice) => ({ chosen: one, language: stt.language, ...revealed(one.apiKey) });
  const llmOf = (one: LlmChoice) => ({ chosen: one, ...revealed(one.apiKey) });
  const ttsOf = (one: TtsChoice) => ({
    chosen: one,
    language,
    sampleRate,
    ...(one.voice !== undefined && { voice: one.voice }),
    ...revealed(one.apiKey),
  });
  return {
    stt: { primary: sttOf(stt), secondary: stt.secondary && sttOf(stt.secondary) },
    llm: {
      primary: llmOf(llm),
      secondary: llm.secondary && llmOf(llm.secondary),
      hedgeAfterMs: llm.secondary?.hedgeAfterMs,
    },
    tts: {
      primary: ttsOf(tts),
      secondary: tts.secondary && ttsOf(tts.secondary),
      hedgeAfterMs: tts.secondary?.hedgeAfterMs,
    },
  };
}

const revealed = (key: Sensitive<string> | undefined): { apiKey?: string } =>
  key === undefined ? {} : { apiKey: key.reveal() };
