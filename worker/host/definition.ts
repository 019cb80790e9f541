/** From the agent file's definition to what calls run on. */
import { present } from '../../shared/base/present.ts';
import { canPause } from '../../shared/recording/agent-file.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { hasVariables } from '../../shared/config/agent/call-variables.ts';
import type { Silences } from '../../shared/config/agent/silences.ts';
import type {
  LlmChoice,
  LlmDefinition,
  RealtimeDefinition,
  SttChoice,
  SttDefinition,
  TtsChoice,
  TtsDefinition,
} from '../../shared/config/stages/definition.ts';
import { llmDefaults, ttsDefaults } from '../../shared/config/stages/stage-keys.ts';
import type { Sensitive } from '../../shared/config/sensitive.ts';
import type { Millis } from '../../shared/base/units.ts';
import { defaultCallLimits, type CallSettings, type ToolBook } from '../core/settings.ts';
import { greetingOf } from '../core/state.ts';
import { newRespelling } from '../core/answer/response.ts';
import { addText, finishText, newSplitter } from '../core/answer/sentences.ts';
import { vocabularyOf } from '../../shared/languages/vocabulary.ts';
import type { SpeechDetectorSettings } from '../media/vad/speech-detector.ts';
import type { RealtimeAccess } from '../stages/realtime/contract.ts';
import type { StageDefinition, StageDefinitions } from '../stages/registry.ts';
import { readConfirmation } from '../tools/confirmation.ts';
import type { ToolSettings } from '../tools/registry.ts';
import type { ProviderAccess } from '../stages/stage.ts';
import type { CallTools } from '../tools/tool.ts';

/**
 * Silence after which STT is asked for its final text where the LLM may start early: long enough that most pauses between words are
 * over, and short enough that text and answer arrive before the default silence that ends a turn.
 */
const askEarlyMs = 300;

/** What the machine a worker runs on adds to the definition. */
export interface WorkerFeatures {
  /** A turn model answers. */
  readonly turnModel: boolean;
  /** Audio of a running turn that can be given to another STT session. */
  readonly replayMs: Millis;
}

/** Everything but the tools and the variables, which each call has of its own. */
export function callSettings(
  definition: AgentDefinition,
  features: WorkerFeatures,
): Omit<CallSettings, 'tools'> {
  const { agent, turn, llm, flow, telephony, recording, realtime, monitor } = definition;
  const modelSpeaks = realtime?.output === 'audio';
  // A model that hears by itself is given a turn once, when it is over.
  const speculate = turn.speculate && realtime === undefined;
  // Words tell a finished sentence, and are to be there when the turn is over. Those that come late tell nothing.
  const asksEarly = realtime === undefined ? speculate : realtime.words === 'own';
  const silences = silencesOf(turn, features);
  return {
    prompt: agent.prompt,
    languages: agent.languages,
    greeting: agent.greeting,
    ...(recording !== undefined && recording.consent !== '' && { consent: recording.consent }),
    farewell: agent.farewell,
    apology: agent.apology,
    misheard: agent.misheard,
    operatorLost: monitor.lost,
    announcement: agent.announcement.text,
    fillers: agent.fillers,
    lateLines: agent.lateLines,
    pronounce: modelSpeaks ? {} : agent.pronounce,
    dtmf: telephony.dtmf,
    confirmQuestion: agent.confirm.ask,
    maxToolRounds: llm?.maxToolRounds ?? llmDefaults.maxToolRounds,
    ...(flow !== undefined && { flow }),
    ...(agent.team !== undefined && { team: { context: agent.team.context, farewell: agent.team.farewell } }),
    maxCallMs: agent.maxCallS * 1000,
    contextWindowTokens: llm?.contextWindowTokens ?? llmDefaults.contextWindowTokens,
    ...(modelSpeaks && { modelSpeaks }),
    turn: {
      minSpeechMs: turn.minSpeechMs,
      ...silences,
      askEarlyMs: asksEarly ? Math.max(silences.stopMs, askEarlyMs) : Infinity,
      model: isJudged(turn, features),
      completeAt: turn.smartTurnThreshold,
      speculate,
      ...present({ murmurs: turn.murmurs }),
    },
    interrupt: {
      enabled: turn.interrupt.enabled,
      // Where no words come before the answer, the voice alone interrupts.
      minWords: hasLateWords(definition) ? 0 : turn.interrupt.minWords,
      wordlessMs: wordlessMsOf(definition),
      tellsLate: definition.realtime?.writesOver === true,
      backchannels: turn.interrupt.backchannels,
      resumeAfterMs: turn.interrupt.resumeAfterMs,
      dtmf: turn.interrupt.dtmf,
      greeting: turn.interrupt.greeting,
    },
    idle: { askAfterMs: turn.idle.askAfterS * 1000, ask: turn.idle.ask, endAfter: turn.idle.endAfter },
    outage: {
      keepMs: agent.outage.keepS * 1000,
      hold: agent.outage.hold,
      back: agent.outage.back,
      unheardNote: agent.outage.unheardNote,
    },
    limits: { ...defaultCallLimits, replayMs: features.replayMs },
  };
}

/** Texts that calls are sure to speak, in the pieces in which TTS gets them. */
export interface KnownTexts {
  readonly texts: readonly string[];
  /** Among them. */
  readonly fillers: readonly string[];
  readonly farewell: readonly string[];
}

export function knownTexts(settings: Omit<CallSettings, 'tools'>): KnownTexts {
  const { apology, misheard, confirmQuestion, idle, outage } = settings;
  const pronounce = newRespelling(settings.pronounce);
  const { sentences } = vocabularyOf(settings.languages);
  const pieces = (line: string): string[] => {
    const splitter = newSplitter();
    return [...addText(splitter, line, sentences), finishText(splitter) ?? ''].map(pronounce);
  };
  const fillers = (settings.fillers.length > 0 ? settings.fillers : settings.lateLines).map(pronounce);
  const farewell = pieces(settings.farewell);
  // Values that a call fills in are not known before it.
  const greeted = pieces(greetingOf(settings)).filter((piece) => !hasVariables(piece));
  const [first, behind] = [
    [...greeted, ...pieces(apology), ...pieces(misheard)],
    [...pieces(idle.ask), ...pieces(outage.hold)],
  ];
  // Murmurs stand in no answer, and are not respelled.
  const last = [pronounce(confirmQuestion), ...(settings.turn.murmurs ?? [])];
  const texts = [...fillers, ...first, ...farewell, ...behind, ...last];
  return { texts, fillers, farewell };
}

/** What the core knows of the tools that a call was given. */
export const toolBook = ({ agent }: AgentDefinition, tools: CallTools): ToolBook => ({
  declarations: (node) => tools.declarations(node),
  ruleOf: (name) => tools.ruleOf(name),
  performerOf: (name) => tools.performerOf(name),
  validate: (name, argumentsText, node) => tools.validate(name, argumentsText, node),
  answerOf: (text, asked) =>
    readConfirmation(text, agent.confirm, vocabularyOf(agent.languages).answers, asked),
});

/** What the registry of tools takes. */
export const toolSettings = ({
  agent,
  tools,
  mcp,
  telephony,
  flow,
  recording,
  reach,
}: AgentDefinition): ToolSettings => ({
  isPublicOnly: reach?.isPublicOnly === true,
  tools,
  mcp,
  telephony,
  ...(flow !== undefined && { flow }),
  ...(agent.tools !== undefined && { agentTools: agent.tools }),
  team: agent.team,
  isRecorded: canPause(recording),
});

type Turn = AgentDefinition['turn'];
type Judges = Pick<WorkerFeatures, 'turnModel'>;

/** Whether a turn model judges the ends of turns. */
const isJudged = ({ smartTurn }: Turn, { turnModel }: Judges): boolean => turnModel && smartTurn !== 'off';

const silencesOf = (turn: Turn, features: Judges): Silences =>
  isJudged(turn, features) ? turn.silences.withModel : turn.silences.withoutModel;

/** Voice that confirms an interruption where no words can, or none yet: longer than most words of listening. */
const wordlessConfirmMs = 600;

/** How long a voice of which STT says nothing has to last to interrupt; 0: it never does. Words that come when it is over are not waited for. */
const wordlessMsOf = ({ realtime, turn: { interrupt } }: AgentDefinition): number =>
  realtime?.writesOver === true ? Math.min(interrupt.wordlessMs, wordlessConfirmMs) : interrupt.wordlessMs;

/** The model alone writes down what it hears, and nothing judges what is said over the agent by its words. */
const hasLateWords = ({ realtime, stt }: AgentDefinition): boolean =>
  realtime?.words === 'vendor' && stt === undefined && realtime.writesOver !== true;

export function speechSettings(definition: AgentDefinition, features: Judges): SpeechDetectorSettings {
  const { turn } = definition;
  return {
    threshold: turn.vadThreshold,
    minSpeechMs: turn.minSpeechMs,
    ...confirming(turn, hasLateWords(definition) ? wordlessConfirmMs : 0),
    stopMs: silencesOf(turn, features).stopMs,
    // A turn model has the last word later; where STT is quicker, the LLM is asked as early as without one.
    ...(turn.speculate && { pauseMs: turn.silences.withoutModel.stopMs }),
    lastsMs: lasting(wordlessMsOf(definition)),
  };
}

/** How long a voice lasts that may be an interruption, and one that surely is speech; neither less than `leastMs`. */
const confirming = (
  { minSpeechMs, interrupt }: Turn,
  leastMs: Millis,
): Pick<SpeechDetectorSettings, 'confirmMs' | 'sureMs'> => ({
  confirmMs: Math.max(leastMs, interrupt.minSpeechMs),
  sureMs: Math.max(leastMs, minSpeechMs, interrupt.sureSpeechMs),
});

/** What decides over the agent where STT has no words. */
const lasting = (wordlessMs: number): readonly number[] => (wordlessMs === 0 ? [] : [wordlessMs]);

export const stageDefinitions = ({
  stt,
  llm,
  tts,
  realtime,
  turn,
  reach,
}: AgentDefinition): StageDefinitions => ({
  stt: stt && sttStage(stt, reach),
  llm: llm && llmStage(llm, reach),
  tts: tts && ttsStage(tts, reach),
  realtime: realtime && {
    primary: {
      chosen: realtime,
      access: realtimeAccess(realtime, { sampleRate: speechRateOf({ tts }), reach }),
    },
    writesOver: realtime.writesOver === true,
    maxSilenceMs: Math.max(turn.silences.withModel.maxSilenceMs, turn.silences.withoutModel.maxSilenceMs),
  },
});

type Reach = AgentDefinition['reach'];

function sttStage({ language, secondary, ...primary }: SttDefinition, reach: Reach): StageDefinition<'stt'> {
  const of = (one: SttChoice) => ({ chosen: one, access: { language, ...accessOf(one.apiKey, reach) } });
  return { primary: of(primary), secondary: secondary && of(secondary) };
}

export function llmStage({ secondary, ...primary }: LlmDefinition, reach: Reach): StageDefinition<'llm'> {
  const of = (one: LlmChoice) => ({ chosen: one, access: accessOf(one.apiKey, reach) });
  const hedgeAfterMs = secondary?.hedgeAfterMs;
  return { primary: of(primary), secondary: secondary && of(secondary), hedgeAfterMs };
}

function ttsStage(
  { language, sampleRate, secondary, ...primary }: TtsDefinition,
  reach: Reach,
): StageDefinition<'tts'> {
  const of = (one: TtsChoice) => {
    const voice = one.voice === undefined ? {} : { voice: one.voice };
    return { chosen: one, access: { language, sampleRate, ...voice, ...accessOf(one.apiKey, reach) } };
  };
  const hedgeAfterMs = secondary?.hedgeAfterMs;
  return { primary: of(primary), secondary: secondary && of(secondary), hedgeAfterMs };
}

/** Hz of what callers hear before it is brought to the call: of the TTS, or where there is none what speaking models give. */
export const speechRateOf = ({ tts }: { readonly tts?: TtsDefinition | undefined }): number =>
  tts?.sampleRate ?? ttsDefaults.sampleRate;

const realtimeAccess = (
  { language, output, words, voice, apiKey }: RealtimeDefinition,
  { sampleRate, reach }: { readonly sampleRate: number; readonly reach: Reach },
): RealtimeAccess => ({
  language,
  sampleRate,
  output,
  words,
  ...(voice !== undefined && { voice }),
  ...accessOf(apiKey, reach),
});

const accessOf = (
  key: Sensitive<string> | undefined,
  reach: Reach,
): Pick<ProviderAccess, 'apiKey' | 'isPublicOnly'> =>
  present({ apiKey: key?.reveal(), isPublicOnly: reach?.isPublicOnly });
