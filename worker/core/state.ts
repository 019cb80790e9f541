/** The state of one call: its slices, each declared beside what it means. Only `step` and the functions it calls change it. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from './actions.ts';
import { isQuiet, outputFor, newCaller, type Caller } from './turn/caller.ts';
import { newCommands, type Commands } from './commands.ts';
import { newConversation, type Conversation } from './delivery/conversation.ts';
import { newCourse, type Course } from './course.ts';
import { newDelivery, type Delivery } from './delivery/delivery.ts';
import { newDtmfCollector, type DtmfCollector } from './turn/dtmf.ts';
import type { PlayoutPosition } from './events.ts';
import { countFault, newFaults, type Faults } from './faults.ts';
import { newSpeculation, type Speculations } from './dialogue/speculation-state.ts';
import { newNumbers, type Numbers } from './numbers.ts';
import { newOperator, type Operator } from './operator.ts';
import { newSilence, type Silence } from './answer/silence-state.ts';
import type { CallSettings } from './settings.ts';
import { newSetup, type Setup } from './setup.ts';
import { tell, type FaultKind, type FaultStage } from './told.ts';
import { newToolState, type ToolState } from './tools/tools-state.ts';

export interface CallState {
  /** Another agent has another one. */
  setup: Setup;
  readonly course: Course;
  readonly numbers: Numbers;
  readonly caller: Caller;
  readonly speculation: Speculations;
  readonly delivery: Delivery;
  readonly silence: Silence;
  readonly faults: Faults;
  readonly commands: Commands;
  readonly conversation: Conversation;
  readonly tools: ToolState;
  readonly keys: DtmfCollector;
  readonly operator: Operator;
}

/** `session` names the call towards tools; `now` is when it begins. */
export function newCall(
  settings: CallSettings,
  { session = '', now = 0 }: { session?: string; now?: Millis } = {},
): CallState {
  return {
    setup: newSetup(settings),
    course: newCourse(),
    numbers: newNumbers(),
    caller: newCaller(),
    speculation: newSpeculation(),
    delivery: newDelivery(),
    silence: newSilence(),
    faults: newFaults(),
    commands: newCommands(),
    conversation: newConversation(settings, now),
    tools: newToolState(session),
    keys: newDtmfCollector(),
    operator: newOperator(),
  };
}

/** Some slices of a call. */
export type Slices<Name extends keyof CallState> = Pick<CallState, Name>;

/**
 * What a step works with: slices of the state, the time and the actions decided so far. A function names the slices that it, and
 * whatever it calls, may touch; the compiler holds it to that.
 */
export interface Step<Name extends keyof CallState = keyof CallState> {
  readonly state: Slices<Name>;
  readonly now: Millis;
  /** Where playback stood when the event happened, as far as it says. */
  readonly position: PlayoutPosition | undefined;
  readonly actions: CallAction[];
}

/** The words that the agent says when the call opens: those of consent, its greeting, and the line of the flow's first node. */
export function greetingOf({
  flow,
  greeting,
  consent = '',
}: Pick<CallSettings, 'flow' | 'greeting' | 'consent'>): string {
  const say = flow === undefined ? '' : (flow.nodes[flow.start]?.say ?? '');
  return [consent, greeting, say].filter((line) => line.trim() !== '').join(' ');
}

export const outputHeld = ({ caller }: Slices<'caller'>): boolean => outputFor(caller) === 'held';
export const outputDucked = ({ caller }: Slices<'caller'>): boolean => outputFor(caller) === 'ducked';
export const nobodySpeaks = ({ caller }: Slices<'caller'>): boolean => isQuiet(caller);

/** The caller may still answer a farewell with more: nothing but the caller's own goodbye, or silence, ends the call. */
export const mayStay = ({ course, faults }: Slices<'course' | 'faults'>): boolean =>
  course.phase === 'open' && course.parting === 'none' && !faults.lastWords;

/** A tool waits for what the caller says next. */
export const awaitsWord = ({ tools }: Slices<'tools'>): boolean =>
  tools.records.some(({ phase }) => phase.type === 'held' && phase.isHeard);

/** Reports a fault and counts it. True when the stage has failed too often for the call to go on. */
export function noticeFault(
  { state, actions, now }: Step<'faults' | 'setup'>,
  stage: FaultStage,
  what: FaultKind,
): boolean {
  tell({ actions }, { type: 'fault.noticed', stage, what });
  return countFault(state.faults, stage, { settings: state.setup.settings, now });
}
