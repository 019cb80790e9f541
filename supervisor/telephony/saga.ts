/**
 * A warm transfer as a pure machine (docs/telephony.md, Warm transfers): park the caller, ring the destination, join both, or bring the caller back.
 * Events come in, actions go out, time is an argument. Pure.
 *
 * Invariant: a caller is in one place. Nobody is brought back while it is unknown whether they are joined or parked; nobody is joined
 * with a leg that no person has answered; a step whose outcome is unknown is never repeated by itself, and leaves a handle by which an
 * operator brings the caller back.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallerLeft, CarrierName, RefusedCode } from '../../shared/telephony/call-control.ts';

/** How long a destination rings, and how long it may take to accept (docs/telephony.md, Warm transfers). */
export const ringS = 30;
export const acceptS = 120;
/** Ringing, finding out who has answered, and the ways in between; then the caller is brought back whatever the carrier tells. */
const longestMs: Millis = (ringS + acceptS + 30) * 1000;
/** A summary, and the way into the conference. */
const longestMeetingMs: Millis = 90_000;

/** A transfer that nobody has looked after for this long is forgotten. */
const forgottenMs: Millis = 24 * 3_600_000;

const phases = [
  'parking',
  'ringing',
  /** The leg exists; nobody is known to have answered, or a person has. */
  'rung',
  'answered',
  'joining',
  /** The destination hears the summary and is on its way to the caller. */
  'meeting',
  /** The caller has hung up while the leg was being dialled: it is ended as soon as it has a name. */
  'leaving',
  'hanging_up',
  'returning',
  /** In one of these it waits for an operator or for the carrier to tell more. */
  'parked',
  'unsure',
  /** Over. */
  'joined',
  'back',
  'gone',
  'refused',
] as const;
export type SagaPhase = (typeof phases)[number];

export const isPhase = (value: unknown): value is SagaPhase => phases.some((phase) => phase === value);

export interface Saga {
  /** Names it to operators and in what the carrier tells. */
  readonly handle: string;
  readonly carrier: CarrierName;
  readonly callId: string;
  readonly commandId: string;
  readonly summary: string;
  /** Its name in the agent file, where it has one. */
  readonly destination?: string;
  readonly language: string;
  /** The caller can be connected to the agent again. */
  readonly mayReturn: boolean;
  /** When the present wait is over. */
  endsBy: Millis;
  phase: SagaPhase;
  conference: string;
  leg: string;
  /** The call that asked for the transfer has its answer. */
  isTold: boolean;
  /** The two may have been joined. */
  joinTried: boolean;
  /** Steps that were ordered: each has a command id of its own. */
  steps: number;
}

export type StepOutcome =
  /** `meets`: the two are not together yet; the carrier tells when they are. */
  | { readonly kind: 'ok'; readonly id?: string; readonly meets?: true }
  /** `gone`: because the call is over. */
  | { readonly kind: 'refused'; readonly code: RefusedCode; readonly gone?: true }
  | { readonly kind: 'unknown' };

export type SagaEvent =
  /** What became of the step that was ordered last. */
  | { readonly type: 'step.done'; readonly step: number; readonly outcome: StepOutcome }
  | { readonly type: 'leg.answered'; readonly leg: string }
  | { readonly type: 'leg.machine'; readonly leg: string }
  | { readonly type: 'leg.ended'; readonly leg: string }
  /** The leg is in the caller's conference. */
  | { readonly type: 'leg.joined'; readonly leg: string }
  /** The caller has hung up. */
  | { readonly type: 'caller.gone' }
  /** The caller is on a stream of the agent. */
  | { readonly type: 'caller.back' }
  | { readonly type: 'complete' }
  | { readonly type: 'abort' }
  | { readonly type: 'time.passed' };

export type SagaAction =
  | { readonly type: 'park' | 'ring' | 'join' | 'hang_up' | 'put_back'; readonly step: number }
  | {
      readonly type: 'tell';
      readonly outcome:
        | { readonly kind: 'ok' }
        | { readonly kind: 'refused'; readonly code: RefusedCode; readonly left?: CallerLeft }
        | { readonly kind: 'unknown'; readonly handle: string };
    };

const isGone = (outcome: StepOutcome): boolean => outcome.kind === 'refused' && outcome.gone === true;

export const isOver = ({ phase }: Saga): boolean => ['joined', 'back', 'gone', 'refused'].includes(phase);

type NewSaga = Omit<Saga, 'phase' | 'conference' | 'leg' | 'isTold' | 'joinTried' | 'steps' | 'endsBy'>;

/** Begins: the first action parks the caller. */
export function newSaga(
  given: NewSaga,
  now: Millis,
): { readonly saga: Saga; readonly actions: SagaAction[] } {
  const rest = {
    phase: 'parking',
    conference: '',
    leg: '',
    isTold: false,
    joinTried: false,
    steps: 0,
  } as const;
  const saga: Saga = { ...given, ...rest, endsBy: now + longestMs };
  return { saga, actions: [action(saga, 'park')] };
}

/** Takes one event. Why an operator's command is refused is returned beside the actions. */
export function stepSaga(
  saga: Saga,
  event: SagaEvent,
  now: Millis,
): { readonly actions: SagaAction[]; readonly refusal?: string } {
  const actions: SagaAction[] = [];
  if (isOver(saga)) return { actions, refusal: 'over' };
  const refusal = take({ saga, actions, now }, event);
  return refusal === undefined ? { actions } : { actions, refusal };
}

interface Site {
  readonly saga: Saga;
  readonly actions: SagaAction[];
  readonly now: Millis;
}

function take(site: Site, event: SagaEvent): string | undefined {
  const { saga, now } = site;
  switch (event.type) {
    case 'step.done':
      if (event.step === saga.steps) done(site, event.outcome);
      return undefined;
    case 'leg.answered':
      if (isWaitedFor(site, event.leg)) {
        saga.phase = 'answered';
        saga.endsBy = now + acceptS * 1000;
      }
      endUnwanted(site);
      return undefined;
    case 'leg.machine':
      if (isWaitedFor(site, event.leg)) bringBack(site);
      endUnwanted(site);
      return undefined;
    case 'leg.joined':
      if (event.leg === saga.leg && ['joining', 'meeting', 'unsure'].includes(saga.phase))
        saga.phase = 'joined';
      return undefined;
    case 'leg.ended':
      legEnded(site, event.leg);
      return undefined;
    case 'caller.gone':
      callerGone(site);
      return undefined;
    case 'caller.back':
      if (['returning', 'parked', 'unsure'].includes(saga.phase)) saga.phase = 'back';
      return undefined;
    case 'complete':
      return complete(site);
    case 'abort':
      return abort(site);
    case 'time.passed':
      if (now >= saga.endsBy && (saga.phase === 'rung' || saga.phase === 'answered')) bringBack(site);
      // They may talk, or the caller may be alone.
      if (now >= saga.endsBy && saga.phase === 'meeting') saga.phase = 'unsure';
      // No call waits for so long.
      if (now >= saga.endsBy + forgottenMs) saga.phase = 'gone';
      return undefined;
  }
}

function action(saga: Saga, type: 'park' | 'ring' | 'join' | 'hang_up' | 'put_back'): SagaAction {
  saga.steps += 1;
  return { type, step: saga.steps };
}

function go({ saga, actions }: Site, phase: SagaPhase, type: 'ring' | 'join' | 'hang_up' | 'put_back'): void {
  saga.phase = phase;
  actions.push(action(saga, type));
}

function tell({ saga, actions }: Site, outcome: Extract<SagaAction, { type: 'tell' }>['outcome']): void {
  if (saga.isTold) return;
  saga.isTold = true;
  actions.push({ type: 'tell', outcome });
}

/** Nobody knows where the caller is: an operator may. */
function leave(site: Site, phase: 'parked' | 'unsure'): void {
  site.saga.phase = phase;
  tell(site, { kind: 'unknown', handle: site.saga.handle });
}

/** The outcome of the newest step. */
function done(site: Site, outcome: StepOutcome): void {
  const { saga } = site;
  switch (saga.phase) {
    case 'parking':
      if (outcome.kind === 'ok') {
        saga.conference = outcome.id ?? '';
        go(site, 'ringing', 'ring');
      } else if (outcome.kind === 'refused') {
        // The caller has never left the agent.
        saga.phase = 'refused';
        tell(site, outcome);
      } else leave(site, 'parked');
      return;
    case 'ringing':
      if (outcome.kind === 'ok') {
        saga.phase = 'rung';
        saga.leg = outcome.id ?? saga.leg;
        tell(site, { kind: 'ok' });
      } else if (outcome.kind === 'refused') {
        tell(site, { ...outcome, left: leftBy(saga) });
        bringBack(site);
      } else leave(site, 'parked');
      return;
    case 'joining':
      joinDone(site, outcome);
      return;
    case 'leaving':
      if (outcome.kind === 'ok' && outcome.id !== undefined) saga.leg = outcome.id;
      endUnwanted(site);
      // Without a name it ends by itself: it rings for a while, and then is silent for a while.
      saga.phase = 'gone';
      return;
    case 'hanging_up':
      // A leg that was never to be joined is in no conference, whatever became of it; of another one it must be known that it is over.
      if (saga.joinTried && outcome.kind !== 'ok' && !isGone(outcome)) saga.phase = 'unsure';
      else putBack(site);
      return;
    case 'returning':
      if (outcome.kind === 'ok') saga.phase = 'back';
      else saga.phase = isGone(outcome) ? 'gone' : 'parked';
      return;
    default:
  }
}

function joinDone(site: Site, outcome: StepOutcome): void {
  const { saga, now } = site;
  const isAlone = saga.leg === '';
  if (outcome.kind === 'refused') bringBack(site);
  else if (outcome.kind === 'unknown') saga.phase = isAlone ? 'parked' : 'unsure';
  // Where the two had met, the call is over, and nobody can be brought back.
  else if (isAlone) putBack(site);
  else if (outcome.meets === true) {
    saga.phase = 'meeting';
    saga.endsBy = now + longestMeetingMs;
  } else saga.phase = 'joined';
}

/** Nobody waits for the destination any more. */
function endUnwanted({ saga, actions }: Site): void {
  if (saga.phase !== 'leaving' || saga.leg === '') return;
  actions.push(action(saga, 'hang_up'));
  saga.phase = 'gone';
}

/** The leg is this one, which may be learnt from the carrier before, or without, the answer to the request. */
function noteLeg(saga: Saga, leg: string): boolean {
  if (saga.leg === '' && ['ringing', 'parked', 'leaving'].includes(saga.phase)) saga.leg = leg;
  return saga.leg === leg;
}

/** The leg's fate decides what comes next. Any report of it proves that it was dialled, whenever the answer to that request comes. */
function isWaitedFor(site: Site, leg: string): boolean {
  const { saga } = site;
  if (!noteLeg(saga, leg) || !['ringing', 'rung', 'answered'].includes(saga.phase)) return false;
  tell(site, { kind: 'ok' });
  return true;
}

function legEnded(site: Site, leg: string): void {
  const { saga } = site;
  if (isWaitedFor(site, leg) || (saga.phase === 'meeting' && saga.leg === leg)) {
    // In the phase `meeting` it has gone before it came to the caller, who is alone.
    saga.leg = '';
    putBack(site);
    return;
  }
  if (!noteLeg(saga, leg)) return;
  if (saga.phase === 'leaving') saga.phase = 'gone';
  else if (saga.phase === 'joining') saga.leg = '';
  else if (saga.phase === 'unsure') {
    // Had they been joined, the conference would have ended with it, and the call with that.
    saga.leg = '';
    saga.phase = 'parked';
  }
}

const leftBy = ({ mayReturn, handle }: Saga): CallerLeft =>
  mayReturn ? { where: 'returning' } : { where: 'parked', handle };

/** Ends the leg, then connects the caller to the agent again. */
function bringBack(site: Site): void {
  if (site.saga.leg === '') putBack(site);
  else go(site, 'hanging_up', 'hang_up');
}

function putBack(site: Site): void {
  if (site.saga.mayReturn) go(site, 'returning', 'put_back');
  else site.saga.phase = 'parked';
}

function callerGone(site: Site): void {
  const { saga, actions } = site;
  const hasLeg = saga.leg !== '' && saga.phase !== 'hanging_up';
  if (hasLeg) actions.push(action(saga, 'hang_up'));
  tell(site, { kind: 'refused', code: 'rejected' });
  saga.phase = saga.phase === 'ringing' && !hasLeg ? 'leaving' : 'gone';
}

/** Joins callers only with a leg that a person has answered. */
function complete(site: Site): string | undefined {
  if (site.saga.phase !== 'answered') return site.saga.phase === 'rung' ? 'not_answered' : 'not_possible';
  site.saga.joinTried = true;
  go(site, 'joining', 'join');
  return undefined;
}

/** Also how an operator recovers a parked caller: whatever leg there is ends first. */
function abort(site: Site): string | undefined {
  const { phase } = site.saga;
  if (!['rung', 'answered', 'parked', 'unsure'].includes(phase)) return 'not_possible';
  bringBack(site);
  return undefined;
}
