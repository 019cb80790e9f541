/** The state of one call. Only `step` and the functions it calls change it. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction, FaultKind, FaultStage } from './actions.ts';
import { newDtmfCollector, type DtmfCollector } from './dtmf.ts';
import { newClientPlayout, type ClientPlayout } from './heard.ts';
import { newHistory, type History } from './history.ts';
import { newRespelling, type Response, type Respelling } from './response.ts';
import type { CallSettings } from './settings.ts';
import type { SttLedger, Turn } from './turn.ts';

/** Times of the turn that is being answered, for its measurement. */
export interface TurnClock {
  readonly epoch: number;
  readonly lastVoiceAt: Millis;
  readonly decidedAt: Millis;
  readonly finalAt: Millis;
}

export interface CallState {
  readonly settings: CallSettings;
  readonly pronounce: Respelling;
  phase: 'opening' | 'open' | 'ended';
  /** Number of the newest user turn or line of the bot. Everything older is stale. */
  epoch: number;
  lastContext: number;
  lastMark: number;
  turn: Turn;
  response: Response | undefined;
  /** The caller is speaking, as far as VAD says. */
  voice: 'silent' | 'speech';
  readonly stt: SttLedger;
  readonly history: History;
  readonly client: ClientPlayout;
  readonly dtmf: DtmfCollector;
  turnClock: TurnClock | undefined;
  /** Set by the time limit of the call or a fault; the farewell follows the running response. */
  endingSoon: boolean;
  /** Something entered the context that nobody has answered yet; the answer follows the running response. */
  answerOwed: boolean;
  readonly idle: { asks: number; askAt: Millis | undefined };
  callEndsAt: Millis | undefined;
  /** Turns in a row in which somebody spoke and STT found no words. */
  wordlessTurns: number;
  readonly failuresInARow: Record<FaultStage, number>;
}

export function newCall(settings: CallSettings): CallState {
  return {
    settings,
    pronounce: newRespelling(settings.pronounce),
    phase: 'opening',
    epoch: 0,
    lastContext: 0,
    lastMark: 0,
    turn: { phase: 'idle' },
    response: undefined,
    voice: 'silent',
    stt: { owed: [] },
    history: newHistory(),
    client: newClientPlayout(),
    dtmf: newDtmfCollector(),
    turnClock: undefined,
    endingSoon: false,
    answerOwed: false,
    idle: { asks: 0, askAt: undefined },
    callEndsAt: undefined,
    wordlessTurns: 0,
    failuresInARow: { stt: 0, llm: 0, tts: 0, call: 0 },
  };
}

/** What a step works with: the state, the time and the orders given so far. */
export interface Step {
  readonly state: CallState;
  readonly now: Millis;
  readonly actions: CallAction[];
}

/** Reports a fault and counts it. True when the stage has failed too often for the call to go on. */
export function noticeFault(step: Step, stage: FaultStage, what: FaultKind): boolean {
  step.actions.push({ type: 'fault.noticed', stage, what });
  step.state.failuresInARow[stage] += 1;
  return step.state.failuresInARow[stage] >= step.state.settings.limits.stageFailures;
}
