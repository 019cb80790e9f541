/** A call whose model hears and speaks by itself, with a scripted model and scripted stages beside it. */
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { breakerInts, Breakers } from '../../../shared/protocol/breakers.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { realtimeStages } from '../../../worker/stages/realtime/stages.ts';
import type { Vendor } from '../../../worker/stages/realtime/session-line.ts';
import type { RealtimeCaps } from '../../../worker/stages/realtime/contract.ts';
import type {
  ChatMessage,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  SttEvent,
  SttSession,
  TtsEvent,
  TtsSession,
} from '../../../worker/stages/stage.ts';
import { ScriptedModel } from './scripted-model.ts';
import { ScriptedLlm, ScriptedStt, ScriptedTts } from './scripted-stages.ts';
import { newStageContext } from './stage-context.ts';
import { newVirtualClock, type VirtualClock } from './virtual-clock.ts';

export const prompt: ChatMessage = { role: 'system', text: 'You are a clerk.' };
export const user = (text: string): ChatMessage => ({ role: 'user', text });
export const agent = (text: string): ChatMessage => ({ role: 'assistant', text });
export const sound = (first: number, length = 80): Int16Array => new Int16Array(length).fill(first);

interface CallOptions {
  caps?: Partial<RealtimeCaps>;
  modelSpeaks?: boolean;
  maxSilenceMs?: number;
  words?: 'own' | 'vendor';
  hasStt?: boolean;
  /** Memory that the calls of a vendor share, and their time. */
  breakers?: Int32Array;
  clock?: VirtualClock;
  budgets?: RetryBudgets;
  isAlone?: boolean;
  /** The first session is ready. */
  isReady?: boolean;
}

/** The vendor of a call, with what was counted of it. */
function vendorOf(
  { model }: ScriptedModel,
  { breakers = new Int32Array(breakerInts), budgets = new RetryBudgets(), isAlone = false }: CallOptions,
  clock: VirtualClock,
) {
  const failures: string[] = [];
  const figures: string[] = [];
  const vendor: Vendor = {
    primary: {
      role: 'primary',
      stage: model,
      breaker: new Breakers(breakers).of('realtime', 'primary'),
      meter: {
        requested: (session) => figures.push(`asked in ${session ?? 'none'}`),
        firstResult: (ms) => figures.push(`began after ${ms}`),
        failed: (kind) => failures.push(kind),
        spent: (unit, amount, isLate) => figures.push(`${unit} ${amount}${isLate === true ? ' late' : ''}`),
      },
    },
    budgets,
    machineMs: () => clock.now(),
    failedOver: (reason) => failures.push(reason === 'breaker' ? 'left alone' : 'fell back'),
    isAlone,
  };
  return { vendor, failures, figures };
}

/** One call with all that a test drives of it. */
export function newCall(options: CallOptions = {}) {
  const {
    caps = {},
    modelSpeaks = true,
    maxSilenceMs = 2_500,
    words = 'own',
    hasStt = false,
    clock = newVirtualClock(),
    isReady = true,
  } = options;
  const model = new ScriptedModel(caps);
  const [stt, llm, tts] = [new ScriptedStt(), new ScriptedLlm(), new ScriptedTts()];
  const { vendor, failures, figures } = vendorOf(model, options, clock);
  const stages = realtimeStages({
    vendor,
    cascade: { stt: stt.stage, llm: llm.stage, tts: tts.stage },
    sampleRate: 8_000,
    modelSpeaks,
    sentences: vocabularyOf(['en']).sentences,
    maxSilenceMs,
    words,
    hasStt,
  });
  const context = newStageContext(clock);
  const heard: SttEvent[] = [];
  const spoken: TtsEvent[] = [];
  const said: LlmEvent[] = [];
  const ears: SttSession = stages.stt.open(context, (event) => heard.push(event));
  const openVoice = (): TtsSession => stages.tts.open(context, (event) => spoken.push(event));
  const voice = openVoice();
  let history: readonly ChatMessage[] = [];
  const expects = (): LlmRequest => ({ messages: [prompt, ...history], tools: [] });
  const mind: LlmSession = stages.llm.open(context, { expects });
  if (isReady) model.ready();
  const start = (...messages: ChatMessage[]): LlmRound => {
    history = messages;
    return mind.start(expects(), (event) => said.push(event));
  };
  /** This enters the history, and nothing is asked. */
  const knows = (message: ChatMessage): ChatMessage => {
    history = [...history, message];
    return message;
  };
  /** The caller has heard this of the agent. */
  const hears = (text: string): ChatMessage => knows(agent(text));
  /** The caller says this, and STT writes it down. */
  const says = (text: string, first = 7): ChatMessage => {
    ears.audio(sound(first));
    ears.finalize();
    if (text !== '')
      stt.sessions
        .at(-1)
        ?.say({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
    stt.sessions.at(-1)?.say({ type: 'finalized' });
    return user(text);
  };
  return {
    /** The session of STT is replaced by another. */
    hearsAnew: (): SttSession => stages.stt.open(context, (event) => heard.push(event)),
    ...{ clock, model, stt, llm, tts, failures, figures },
    ...{ ears, voice, openVoice, mind, heard, spoken, said },
    ...{ start, knows, hears, says },
  };
}
