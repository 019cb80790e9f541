/** The agent of the scripted conversations. */
import { defaultDtmfSettings } from '../../worker/core/dtmf.ts';
import { defaultCallLimits, type CallSettings } from '../../worker/core/settings.ts';
import { newToolBook } from './tool-book.ts';

export const scriptSettings: CallSettings = {
  prompt: 'Be brief.',
  greeting: '',
  farewell: 'Goodbye.',
  apology: 'Sorry, say that again.',
  fillers: ['One moment.', 'Let me see.'],
  lateLines: ['Bear with me.', 'Still at it.'],
  pronounce: {},
  tools: newToolBook(),
  dtmf: defaultDtmfSettings,
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
    backchannels: ['mm-hmm', 'i see'],
    resumeAfterMs: 600,
    dtmf: true,
  },
  idle: { askAfterMs: 10_000, ask: 'Are you still there?', endAfter: 2 },
  limits: defaultCallLimits,
};
