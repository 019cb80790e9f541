/** The agent of the scripted conversations, and what may differ from one to the other. */
import type { DtmfSettings } from '../../../worker/core/turn/dtmf.ts';
import { defaultCallLimits, type CallSettings } from '../../../worker/core/settings.ts';
import type { Core } from './core.ts';
import { newToolBook } from './tool-book.ts';

export interface ScriptOptions {
  readonly core?: Core;
  readonly settings?: Partial<CallSettings>;
  /** The client echoes marks this long after they were sent; undefined: it never does. */
  readonly echoMs?: number | undefined;
  /** False: TTS must speak fillers and farewell as well. */
  readonly linesReady?: boolean;
}

export const dtmfSettings: DtmfSettings = {
  collect: true,
  terminator: '#',
  maxDigits: 20,
  interDigitMs: 3_000,
  loneTerminator: true,
  note: '[The caller pressed the keys: {digits}]',
};

export const scriptSettings: CallSettings = {
  prompt: 'Be brief.',
  languages: ['en', 'de', 'tr'],
  greeting: '',
  farewell: 'Goodbye.',
  apology: 'Sorry, say that again.',
  misheard: 'Sorry, what was that?',
  operatorLost: 'I am with you again.',
  announcement: 'Something is not working.',
  fillers: ['One moment.', 'Let me see.'],
  lateLines: ['Bear with me.', 'Still at it.'],
  pronounce: {},
  tools: newToolBook(),
  dtmf: dtmfSettings,
  maxToolRounds: 4,
  confirmQuestion: 'Shall I do that?',
  maxCallMs: 600_000,
  contextWindowTokens: 8_000,
  turn: {
    minSpeechMs: 100,
    stopMs: 200,
    askEarlyMs: Infinity,
    silenceEndMs: 700,
    maxSilenceMs: 2_500,
    model: false,
    completeAt: 0.5,
    speculate: false,
  },
  interrupt: {
    enabled: true,
    minWords: 0,
    wordlessMs: 0,
    backchannels: ['mm-hmm', 'i see'],
    resumeAfterMs: 600,
    dtmf: true,
    greeting: true,
  },
  idle: { askAfterMs: 10_000, ask: 'Are you still there?', endAfter: 2 },
  outage: { keepMs: 10_000, hold: 'Still trouble.', back: 'I am back.', unheardNote: '[unheard]' },
  // Round figures of the scripts' own: the service's are shorter, and `test/sim/outages` judges those.
  limits: { ...defaultCallLimits, audibleWithinMs: 2_700, lateAudibleMs: 2_850 },
};
