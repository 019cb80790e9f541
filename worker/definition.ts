/** From the agent file's definition to what calls run on. */
import type { AgentDefinition } from '../shared/config/agent-file.ts';
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

export const stageDefinitions = ({ stt, llm, tts }: AgentDefinition): StageDefinitions => ({
  stt: { chosen: stt, language: stt.language, ...revealed(stt.apiKey) },
  llm: { chosen: llm, ...revealed(llm.apiKey) },
  tts: {
    chosen: tts,
    language: tts.language,
    sampleRate: tts.sampleRate,
    ...(tts.voice !== undefined && { voice: tts.voice }),
    ...revealed(tts.apiKey),
  },
});

const revealed = (key: Sensitive<string> | undefined): { apiKey?: string } =>
  key === undefined ? {} : { apiKey: key.reveal() };
