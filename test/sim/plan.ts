/** What one seed means: the settings of the call, the manners of its world, and the faults that it has to bear. */
import { dtmfSettings } from '../support/core/script-settings.ts';
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import { newToolBook, readingTool } from '../support/core/tool-book.ts';
import { defaultCallLimits, type CallSettings } from '../../worker/core/settings.ts';

export interface Faults {
  readonly sttFails: number;
  readonly sttStalls: number;
  readonly sttIsDeaf: number;
  readonly llmFails: number;
  readonly llmStalls: number;
  readonly llmBreaks: number;
  readonly llmIsEmpty: number;
  readonly llmIsLate: number;
  readonly ttsFails: number;
  readonly ttsStalls: number;
  readonly ttsBreaks: number;
  readonly ttsIsSilent: number;
  /** Results of what is over, per tick. */
  readonly stale: number;
  /** Events delivered twice, and piece reports lost. */
  readonly twice: number;
  readonly lost: number;
}

/** What became of TTS before the call. */
export interface VoicePlan {
  /** The lines of the agent were made; else TTS must speak them. */
  readonly linesReady: boolean;
  /** It has been down since the service started, in one of these ways. */
  readonly down: 'refuses' | 'stalls' | 'is silent' | undefined;
}

export type ClientKind = 'echo' | 'silent' | 'bad' | 'acks';

export interface Plan {
  readonly seed: number;
  readonly prng: Prng;
  readonly settings: CallSettings;
  readonly confirmMs: number;
  readonly durationMs: number;
  readonly client: {
    kind: ClientKind;
    downMs: number;
    bufferMs: number;
    upMs: number;
    /** It echoes so much later than it could, and up to so much more. */
    late?: { fixedMs: number; jitterMs: number };
  };
  /** The client's microphone hears what the client plays. */
  readonly micHearsBot: boolean;
  /** Where it does, its waveform tells it from a caller; STT writes it down all the same. */
  readonly echoIsClear: boolean;
  readonly stt: { finalizeMs: number; guesses: boolean; endpoints: boolean; punctuates: boolean };
  readonly llm: { firstMs: number; deltaMs: number; endsCall: number };
  readonly tts: { firstMs: number; speed: number; msPerChar: number; reports: boolean; words: boolean };
  readonly voice: VoicePlan;
  /** How long a tool takes, and how often it never answers. */
  readonly tools: { answersMs: number; hangs: number };
  /** How long the turn model takes, and how often it has no answer. */
  readonly turnModel: { answersMs: number; silent: number };
  /** Lines of others, per tick. */
  readonly lines: number;
  readonly faults: Faults;
  readonly hangUpAtMs: number;
  readonly shutdownAtMs: number;
  /** Times at which the worker dies and another takes the call over. */
  readonly lossesAtMs: readonly number[];
}

export const noFaults: Faults = {
  sttFails: 0,
  sttStalls: 0,
  sttIsDeaf: 0,
  llmFails: 0,
  llmStalls: 0,
  llmBreaks: 0,
  llmIsEmpty: 0,
  llmIsLate: 0,
  ttsFails: 0,
  ttsStalls: 0,
  ttsBreaks: 0,
  ttsIsSilent: 0,
  stale: 0,
  twice: 0,
  lost: 0,
};

/** The voice of a model does not fail by itself, loses no report, and is given no spellings. */
const ownVoice = { ttsFails: 0, ttsBreaks: 0, ttsStalls: 0, ttsIsSilent: 0, lost: 0 };

export function planOf(seed: number): Plan {
  // A model that hears and speaks by itself.
  const speaks = newPrng(seed * 15_485_863 + 3).chance(0.1);
  const prng = newPrng(seed * 7_919 + 17);
  const from = (low: number, high: number): number => low + prng.below(high - low + 1);
  const kinds: readonly ClientKind[] = ['echo', 'echo', 'echo', 'silent', 'bad', 'acks'];
  return {
    seed,
    prng,
    settings: { ...settingsOf(prng), ...(speaks && { modelSpeaks: true, pronounce: {} }) },
    confirmMs: from(250, 450),
    durationMs: from(40_000, 75_000),
    client: {
      kind: prng.pick(kinds),
      downMs: from(10, 80),
      bufferMs: prng.chance(0.2) ? from(400, 1_500) : from(0, 250),
      upMs: from(10, 80),
    },
    micHearsBot: prng.chance(0.1),
    echoIsClear: newPrng(seed * 104_729 + 11).chance(0.5),
    stt: {
      finalizeMs: from(60, 500),
      guesses: prng.chance(0.85),
      endpoints: prng.chance(0.5),
      punctuates: prng.chance(0.5),
    },
    llm: { firstMs: from(80, 600), deltaMs: from(5, 60), endsCall: prng.chance(0.3) ? 0.1 : 0 },
    tts: {
      firstMs: from(60, 400),
      speed: from(2, 20),
      msPerChar: from(50, 80),
      reports: prng.chance(0.8),
      words: prng.chance(0.4),
    },
    voice: voiceOf(newPrng(seed * 104_729 + 5)),
    tools: { answersMs: from(20, 3_000), hangs: prng.chance(0.2) ? 0.3 : 0 },
    turnModel: { answersMs: from(20, 250), silent: prng.chance(0.3) ? 0.3 : 0 },
    lines: prng.chance(0.3) ? 0.003 : 0,
    faults: { ...(prng.chance(0.35) ? noFaults : faultsOf(prng)), ...(speaks && ownVoice) },
    hangUpAtMs: prng.chance(0.25) ? from(0, 70_000) : Infinity,
    shutdownAtMs: prng.chance(0.1) ? from(0, 70_000) : Infinity,
    lossesAtMs: prng.chance(0.3) ? [from(500, 60_000), from(500, 60_000)] : [],
  };
}

function voiceOf(prng: Prng): VoicePlan {
  const down = prng.chance(0.15) ? prng.pick(['refuses', 'stalls', 'is silent'] as const) : undefined;
  return { down, linesReady: down === undefined && prng.chance(0.85) };
}

export const backchannels = ['mm-hmm', 'uh-huh', 'right', 'i see'];

function settingsOf(prng: Prng): CallSettings {
  const from = (low: number, high: number): number => low + prng.below(high - low + 1);
  const stopMs = from(10, 15) * 20;
  const silenceEndMs = stopMs + from(0, 600);
  return {
    prompt: 'Be brief.',
    languages: ['en'],
    greeting: prng.chance(0.7) ? 'Welcome to the shop. What can I do for you?' : '',
    farewell: 'EndMessage, take good care.',
    apology: 'Excuse me, would you repeat that?',
    operatorLost: 'I am with you again.',
    misheard: 'Pardon, what was that?',
    announcement: silenceEndMs % 3 === 0 ? '' : 'The voice is out of order.',
    fillers: prng.chance(0.8) ? ['Just a moment.', 'Still looking that up.'] : [],
    lateLines: ['Bear with me.', 'Still on it.'],
    pronounce: prng.chance(0.3) ? { SQL: 'sequel' } : {},
    dtmf: dtmfSettings,
    tools: newToolBook({ endCall: prng.chance(0.9), tools: { lookup: readingTool } }),
    maxToolRounds: 2,
    confirmQuestion: 'Is that right?',
    maxCallMs: prng.chance(0.25) ? from(20_000, 50_000) : 600_000,
    contextWindowTokens: 100_000,
    turn: {
      minSpeechMs: 100,
      stopMs,
      askEarlyMs: silenceEndMs % 2 === 0 ? stopMs + (silenceEndMs % 300) : Infinity,
      silenceEndMs,
      maxSilenceMs: silenceEndMs + from(0, 1_500),
      model: prng.chance(0.5),
      completeAt: 0.5,
      speculate: prng.chance(0.5),
    },
    interrupt: {
      enabled: prng.chance(0.9),
      minWords: prng.chance(0.6) ? from(1, 2) : 0,
      wordlessMs: prng.chance(0.7) ? from(400, 1_200) : 0,
      backchannels,
      resumeAfterMs: stopMs + from(0, 500),
      dtmf: prng.chance(0.7),
      greeting: true,
    },
    idle: {
      askAfterMs: prng.chance(0.9) ? from(4_000, 10_000) : 0,
      ask: 'Hello, anybody out there?',
      endAfter: from(1, 3),
    },
    limits: {
      ...defaultCallLimits,
      markGraceMs: from(1_000, 2_000),
    },
    outage: {
      keepMs: stopMs % 40 === 0 ? 10_000 : 0,
      hold: 'It is still broken.',
      back: stopMs % 80 === 0 ? '' : 'It works now.',
      unheardNote: '[unheard]',
    },
  };
}

/** A few kinds of faults at a time, so that a call has a chance to get somewhere. */
function faultsOf(prng: Prng): Faults {
  const rate = (often: number, high: number): number => (prng.chance(often) ? prng.next() * high : 0);
  return {
    sttFails: rate(0.25, 0.3),
    sttStalls: rate(0.25, 0.3),
    sttIsDeaf: rate(0.15, 0.3),
    llmFails: rate(0.25, 0.4),
    llmStalls: rate(0.25, 0.4),
    llmBreaks: rate(0.25, 0.4),
    llmIsEmpty: rate(0.2, 0.4),
    llmIsLate: rate(0.3, 0.5),
    ttsFails: rate(0.25, 0.2),
    ttsStalls: rate(0.25, 0.4),
    ttsBreaks: rate(0.25, 0.2),
    ttsIsSilent: rate(0.15, 0.3),
    stale: rate(0.5, 0.05),
    twice: rate(0.4, 0.5),
    lost: rate(0.3, 0.4),
  };
}
