/** The state of one call. Only `step` and the functions it calls change it. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction, OpaqueReasoning } from './actions.ts';
import type { FaultKind, FaultStage } from './told.ts';
import { newCommands, type Commands } from './commands.ts';
import { newDtmfCollector, type DtmfCollector } from './dtmf.ts';
import { newEdits, type Edits } from './edits.ts';
import { newPatience, type Patience } from './end-of-turn.ts';
import type { CallEvent, PlayoutPosition } from './events.ts';
import { newFlow, type FlowState } from './flow.ts';
import { defaultMsPerChar, newClientPlayout, type ClientPlayout } from './heard.ts';
import { addMessages, newHistory, type History } from './history.ts';
import { newRespelling, type Response, type Respelling } from './response.ts';
import type { CallSettings } from './settings.ts';
import { tell } from './told.ts';
import { newToolState, type ToolState } from './tools-state.ts';
import { newSttLedger, type SttLedger, type Turn } from './turn.ts';

/** Times of the turn for whose answer the caller waits. */
export interface TurnClock {
  readonly epoch: number;
  readonly lastVoiceAt: Millis;
  readonly decidedAt: Millis;
  readonly finalAt: Millis;
  /** Only such a turn is measured. */
  readonly hasWords: boolean;
}

/** An answer that was asked for at a pause, before the turn is certainly over. Nothing of it leaves the core yet. */
export interface Speculation {
  readonly round: number;
  /** The words of the turn that the LLM was asked with. */
  readonly text: string;
  /** Messages of the context at that time, without the turn. */
  readonly basis: number;
  /** The words were a guess of STT. */
  readonly guessed: boolean;
  held: string;
  firstTextAt: Millis | undefined;
  done: Extract<CallEvent, { type: 'llm.done' }> | undefined;
}

export interface CallState {
  readonly settings: CallSettings;
  readonly pronounce: Respelling;
  /** Names the call towards tools. */
  readonly session: string;
  phase: 'opening' | 'open' | 'ended';
  /** Number of the newest user turn or line of the bot. Everything older is stale. */
  epoch: number;
  lastContext: number;
  lastMark: number;
  /** Number of the newest request to the LLM, and of the newest question to the turn model. */
  lastRound: number;
  lastAsk: number;
  turn: Turn;
  response: Response | undefined;
  /** Since when the caller waits for a sound that the bot owes, whichever response it was to come from. */
  wentQuietAt: Millis | undefined;
  /** The caller is speaking, as far as VAD says. */
  voice: 'silent' | 'speech';
  readonly stt: SttLedger;
  readonly patience: Patience;
  speculation: Speculation | undefined;
  /** Requests of the present turn whose answers were thrown away. */
  wastedRounds: number;
  /** False once a guess of STT turned out to be written differently from the final text. */
  trustsGuesses: boolean;
  /** What nobody heard of the response that the caller cut; spoken on when the interruption was none. */
  cutOff: string;
  /** What the bot said last, for telling its echo. */
  lastSaid: { readonly text: string; readonly endedAt: Millis };
  /** The bot's voice comes back: from now on only words interrupt. */
  echoes: boolean;
  readonly commands: Commands;
  readonly edits: Edits;
  readonly tools: ToolState;
  /** Where the flow is; undefined for an agent without one. */
  readonly flow: FlowState | undefined;
  /** What the provider wants back with the round whose tools run or wait for the caller's word. */
  heldReasoning: OpaqueReasoning | undefined;
  fillersSpoken: number;
  /** How fast TTS speaks, by the newest of its audio that was long enough to tell. */
  msPerChar: Millis;
  /** TTS reports pieces of a response, so that a missing report means something. */
  ttsReports: boolean;
  /** TTS failed too often: what is spoken next is the farewell. */
  lastWords: boolean;
  /** Lines that are heard even when TTS is down. */
  readyLines: { readonly fillers: boolean; readonly farewell: boolean };
  readonly history: History;
  readonly client: ClientPlayout;
  readonly dtmf: DtmfCollector;
  turnClock: TurnClock | undefined;
  /** Set by the time limit of the call, a fault or a command; the farewell follows the running response. */
  endingSoon: boolean;
  /** Something entered the context that nobody has answered yet; the answer follows the running response. */
  answerOwed: boolean;
  readonly idle: { asks: number; askAt: Millis | undefined };
  callEndsAt: Millis | undefined;
  /** Turns in a row in which somebody spoke and STT found no words. */
  wordlessTurns: number;
  readonly failuresInARow: Record<FaultStage, number>;
  /** When the first of the failures in a row was; means nothing while there are none. */
  readonly failingSince: Record<`${FaultStage}At`, Millis>;
}

/** `session` names the call towards tools; `now` is when it begins. */
export function newCall(
  settings: CallSettings,
  { session = '', now = 0 }: { session?: string; now?: Millis } = {},
): CallState {
  const history = newHistory();
  addMessages(history, settings.context ?? []);
  return {
    settings,
    pronounce: newRespelling(settings.pronounce),
    session,
    phase: 'opening',
    epoch: 0,
    lastContext: 0,
    lastMark: 0,
    lastRound: 0,
    lastAsk: 0,
    turn: { phase: 'idle' },
    response: undefined,
    wentQuietAt: undefined,
    voice: 'silent',
    stt: newSttLedger(),
    patience: newPatience(),
    speculation: undefined,
    wastedRounds: 0,
    trustsGuesses: true,
    cutOff: '',
    lastSaid: { text: '', endedAt: 0 },
    echoes: false,
    commands: newCommands(),
    edits: newEdits(),
    tools: newToolState(),
    flow: settings.flow === undefined ? undefined : newFlow(settings.flow, now),
    heldReasoning: undefined,
    fillersSpoken: 0,
    msPerChar: defaultMsPerChar,
    ttsReports: false,
    lastWords: false,
    readyLines: { fillers: false, farewell: false },
    history,
    client: newClientPlayout(),
    dtmf: newDtmfCollector(),
    turnClock: undefined,
    endingSoon: false,
    answerOwed: false,
    idle: { asks: 0, askAt: undefined },
    callEndsAt: undefined,
    wordlessTurns: 0,
    failuresInARow: { stt: 0, llm: 0, tts: 0, call: 0 },
    failingSince: { sttAt: 0, llmAt: 0, ttsAt: 0, callAt: 0 },
  };
}

/** What a step works with: the state, the time and the orders given so far. */
export interface Step {
  readonly state: CallState;
  readonly now: Millis;
  /** Where playback stood when the fact happened, as far as the fact says. */
  readonly position: PlayoutPosition | undefined;
  readonly actions: CallAction[];
}

/** The output stands at a sample, because a candidate holds it. */
export const outputHeld = ({ turn }: CallState): boolean =>
  (turn.phase === 'candidate' || turn.phase === 'fading') && turn.held;

/** What the bot says when the call opens: the agent's greeting, or the line of the flow's first node. */
export function greetingOf({ settings }: CallState): string {
  const { flow, greeting } = settings;
  return greeting.trim() === '' && flow !== undefined ? (flow.nodes[flow.start]?.say ?? '') : greeting;
}

/** A line or an answer of the bot's own waits while the caller speaks (spec 02, Behaviour rules 2). */
export const nobodySpeaks = (state: CallState): boolean =>
  state.turn.phase === 'idle' && state.voice === 'silent';

/** A tool waits for what the caller says next. */
export const awaitsWord = ({ tools }: CallState): boolean =>
  tools.records.some(({ phase }) => phase.type === 'held' && phase.isHeard);

/**
 * Reports a fault and counts it. True when the stage has failed too often, and for too long, for the call to go on. Each failure of
 * the LLM is a turn that nobody answered: there the count alone tells. STT and TTS fail many times within a moment.
 */
export function noticeFault({ state, actions, now }: Step, stage: FaultStage, what: FaultKind): boolean {
  tell({ actions }, { type: 'fault.noticed', stage, what });
  const { failuresInARow, failingSince } = state;
  const { stageFailures, stageDownMs } = state.settings.limits;
  if (failuresInARow[stage] === 0) failingSince[`${stage}At`] = now;
  failuresInARow[stage] += 1;
  if (failuresInARow[stage] < stageFailures) return false;
  return stage === 'llm' || now - failingSince[`${stage}At`] >= stageDownMs;
}
