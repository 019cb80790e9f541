/** From the agent file's definition to what calls run on. */
import type { AgentDefinition } from '../shared/config/agent-file.ts';
import type { Sensitive } from '../shared/config/sensitive.ts';
import type { Millis } from '../shared/base/units.ts';
import { builtInTexts } from '../shared/config/agent/texts.ts';
import { defaultCallLimits, type CallSettings } from './core/settings.ts';
import type { SpeechDetectorSettings } from './media/speech-detector.ts';
import type { StageDefinitions } from './stages/registry.ts';
import type { ToolSettings } from './tools/registry.ts';

/** What the machine a worker runs on adds to the definition. */
export interface WorkerMeans {
  /** A turn model answers. */
  readonly turnModel: boolean;
  /** Audio of a running turn that can be given to another STT session. */
  readonly replayMs: Millis;
}

export function callSettings({ agent, turn, llm }: AgentDefinition, means: WorkerMeans): CallSettings {
  const texts = builtInTexts(agent.language);
  return {
    prompt: agent.prompt,
    greeting: agent.greeting,
    farewell: agent.farewell,
    apology: agent.apology,
    fillers: agent.fillers.length > 0 ? agent.fillers : texts.fillers,
    pronounce: agent.pronounce,
    endCallTool: agent.tools?.includes('end_call') ?? true,
    maxCallMs: agent.maxCallS * 1000,
    contextWindowTokens: llm.contextWindowTokens,
    turn: {
      minSpeechMs: turn.minSpeechMs,
      stopMs: turn.stopMs,
      silenceEndMs: turn.silenceEndMs,
      maxSilenceMs: turn.maxSilenceMs,
      model: means.turnModel && turn.smartTurn !== 'off',
      completeAt: turn.smartTurnThreshold,
      speculate: turn.speculate,
    },
    interrupt: {
      enabled: turn.interrupt.enabled,
      minWords: turn.interrupt.minWords,
      backchannels: turn.interrupt.backchannels ?? texts.backchannels,
      resumeAfterMs: turn.interrupt.resumeAfterMs,
      dtmf: turn.interrupt.dtmf,
    },
    idle: { askAfterMs: turn.idle.askAfterS * 1000, ask: turn.idle.ask, endAfter: turn.idle.endAfter },
    limits: { ...defaultCallLimits, replayMs: means.replayMs },
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
