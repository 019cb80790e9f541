/** A call whose model hears and speaks by itself, with a scripted model and scripted stages beside it. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { breakerInts, Breakers } from '../../../shared/protocol/breakers.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { realtimeStages } from '../../../worker/stages/realtime/stages.ts';
import type { Vendor } from '../../../worker/stages/realtime/session-line.ts';
import type { RealtimeCaps, RealtimeModel } from '../../../worker/stages/realtime/contract.ts';
import type {
  ChatMessage,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  SttEvent,
  SttSession,
  TtsEvent,
  TtsSession,
} from '../../../worker/stages/stage.ts';
import { ScriptedModel } from './scripted-model.ts';
import { Observed } from '../process/observed.ts';
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
  model: RealtimeModel,
  { breakers = new Int32Array(breakerInts), budgets = new RetryBudgets(), isAlone = false }: CallOptions,
  clock: Clock,
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

/** Says so when it was asked. */
const observed = (stage: LlmStage, changed: () => void): LlmStage => ({
  ...stage,
  open: (context, call) => {
    const session = stage.open(context, call);
    return {
      ...session,
      start: (request, sink) => {
        const round = session.start(request, sink);
        changed();
        return round;
      },
    };
  },
});

/** One call with a scripted model, and all that a test drives of it. */
export function newCall(options: CallOptions = {}) {
  const { caps = {}, clock = newVirtualClock(), isReady = true } = options;
  const model = new ScriptedModel(caps);
  const call = newCallOf(model.model, clock, options);
  if (isReady) model.ready();
  return { clock, model, ...call };
}

/** One call with this model. */
export function newCallOf(given: RealtimeModel, clock: Clock, options: CallOptions = {}) {
  const { modelSpeaks = true, maxSilenceMs = 2_500, words = 'own', hasStt = false } = options;
  const [stt, llm, tts] = [new ScriptedStt(), new ScriptedLlm(), new ScriptedTts()];
  const { vendor, failures, figures } = vendorOf(given, options, clock);
  const seen = new Observed();
  const stages = realtimeStages({
    vendor,
    cascade: { stt: stt.stage, llm: observed(llm.stage, () => seen.changed()), tts: tts.stage },
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
  const into =
    <T>(list: T[]) =>
    (event: T): void => {
      list.push(event);
      seen.changed();
    };
  const ears: SttSession = stages.stt.open(context, into(heard));
  const openVoice = (): TtsSession => stages.tts.open(context, into(spoken));
  const voice = openVoice();
  let history: readonly ChatMessage[] = [];
  const expects = (): LlmRequest => ({ messages: [prompt, ...history], tools: [] });
  const mind: LlmSession = stages.llm.open(context, { expects });
  const start = (...messages: ChatMessage[]): LlmRound => {
    history = messages;
    return mind.start(expects(), into(said));
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
    hearsAnew: (): SttSession => stages.stt.open(context, into(heard)),
    /** Resolves when something was told and this holds. */
    until: (holds: () => boolean): Promise<void> => seen.until(holds),
    ...{ stt, llm, tts, failures, figures },
    ...{ ears, voice, openVoice, mind, heard, spoken, said },
    ...{ start, knows, hears, says },
  };
}
