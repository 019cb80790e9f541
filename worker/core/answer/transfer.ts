/**
 * Giving the caller over to somebody else (docs/telephony.md, Transfers and keys): the hand-off sentence is heard to its end,
 * then the carrier is asked once, and the call ends when it has done it. A caller who speaks before that stays with the agent.
 */
import { answer, type CallCommand } from '../commands.ts';
import type { CallEvent } from '../events.ts';
import { speakSentence } from './response.ts';
import { voiceOf } from './speaking.ts';
import type { CallState, Slices, Step } from '../state.ts';
import type { RefusalCode } from '../told.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { idempotencyKey, type ToolAction, type ToolOutcome } from '../tools/tools-state.ts';
import { transferAnswerMs, type TransferRequest } from './transfer-claim.ts';

/** A client that echoes no marks is taken to have played the sentence this long after its last frame, */
const unconfirmedMs = 500;
/** and a client that owes an echo is waited for no longer than this. */
const echoGraceMs = 1_500;

type Run = Extract<ToolAction, { type: 'tool.run' }>;
type Answered = Extract<CallEvent, { type: 'carrier.answered' }>;

const failed = (message: string, transport = false): ToolOutcome => ({ kind: 'failed', message, transport });

/** The tool was called. Its outcome, where that is known at once. */
export function beginToolTransfer(
  step: Step<'setup' | 'numbers' | 'commands'>,
  action: Run,
): ToolOutcome | undefined {
  const { state, now } = step;
  const { transfer } = state.setup.settings;
  if (transfer === undefined) return failed('this call cannot be transferred');
  if (state.commands.transfer.phase !== 'none')
    return failed('a transfer is under way or was made already: there is one in a call, do not repeat it');
  const given = JSON.parse(action.call.arguments) as {
    readonly destination: string;
    readonly mode?: 'cold' | 'warm';
    readonly summary?: string;
  };
  const { destination, mode = 'cold', summary = '' } = given;
  const by = { kind: 'tool', key: action.key, attempt: action.attempt, epoch: state.numbers.epoch } as const;
  const { idempotencyKey: commandId } = action;
  const request: TransferRequest = { commandId, attempt: 1, destination, isNumber: false, mode, summary, by };
  state.commands.transfer = { phase: 'settling', request, by: now + transfer.settleMs };
  return undefined;
}

/** An agent process wants it (`transfer` in docs/reference/agent-link.md, How a call goes). */
export function beginCommandTransfer(
  step: Step<'setup' | 'commands' | 'tools'>,
  id: string | undefined,
  command: Extract<CallCommand, { type: 'transfer' }>,
): RefusalCode | undefined {
  const { state, now } = step;
  const { transfer } = state.setup.settings;
  const { destination, mode, summary } = command;
  if (transfer === undefined || (mode === 'warm' && !transfer.warm)) return 'unsupported';
  const call = { id: id ?? '', name: 'transfer', arguments: '' };
  const commandId = idempotencyKey(state.tools.session, 0, call);
  const attempt = attemptOf(state.commands.transfer, { ...command, commandId, id });
  if (attempt === undefined) return 'already_done';
  const by = { kind: 'command', id } as const;
  const request: TransferRequest = { commandId, attempt, destination, isNumber: true, mode, summary, by };
  state.commands.transfer = { phase: 'settling', request, by: now + transfer.settleMs };
  return undefined;
}

/** Which attempt it is; undefined where another transfer may have been made. Warm ones have moved the caller by then. */
function attemptOf(
  claim: CallState['commands']['transfer'],
  asked: Pick<TransferRequest, 'commandId' | 'destination' | 'mode'> & { readonly id: string | undefined },
): number | undefined {
  if (claim.phase === 'none') return 1;
  if (claim.phase !== 'unknown' || asked.id === undefined || asked.mode !== 'cold') return undefined;
  const { commandId, destination, attempt } = claim.request;
  return commandId === asked.commandId && destination === asked.destination ? attempt + 1 : undefined;
}

/** When it is time to look again; undefined while nothing waits. */
export function transferDeadline(state: Slices<'commands' | 'delivery'>): Millis | undefined {
  const { transfer: claim } = state.commands;
  if (claim.phase === 'asked') return claim.by;
  if (claim.phase !== 'settling') return undefined;
  return Math.min(claim.by, heardBy(state) ?? Infinity);
}

/** By when the sentence was heard whatever is echoed; undefined while it is still going out. */
export function heardBy({ delivery: { response, client } }: Slices<'delivery'>): Millis | undefined {
  if (
    response?.playing.phase !== 'playing' ||
    response.writing.phase !== 'tools' ||
    response.playing.silentAt === undefined
  )
    return undefined;
  // Text given to TTS since the output ran dry is still to be heard.
  if (response.spoken.said > response.spoken.starvedSaid) return undefined;
  return response.playing.silentAt + (client.echoesMarks ? echoGraceMs : unconfirmedMs);
}

/** Everything that was said before the transfer has been heard. */
export function isHeard(state: Slices<'delivery' | 'commands'>, now: Millis, isCommand = false): boolean {
  const { response, client } = state.delivery;
  // A line that the agent process gave before it is a sentence of the agent, too.
  if (isCommand) return response === undefined && state.commands.lines.length === 0;
  if (response === undefined) return true;
  if (response.writing.text === '' && response.writing.splitter.pending === '') return true;
  const at = heardBy(state);
  if (at === undefined) return false;
  const {
    playing: { heard },
    spoken: { spokenSaid, said },
  } = response;
  return now >= at || (client.echoesMarks && heard.marks.size === 0 && spokenSaid >= said);
}

/**
 * Asks the carrier once the sentence was heard. Returns the outcome of a transfer that a caller who spoke has stopped; nothing of it
 * had gone out.
 */
export function settleTransfer(
  step: Step<'setup' | 'numbers' | 'delivery' | 'commands'>,
): TransferRequest | undefined {
  const { state, now, actions } = step;
  const { transfer: claim } = state.commands;
  if (claim.phase !== 'settling') return undefined;
  const { request } = claim;
  if (request.by.kind === 'tool' && state.numbers.epoch > request.by.epoch) {
    state.commands.transfer = { phase: 'none' };
    return request;
  }
  if (now < claim.by && (!isHeard(state, now, request.by.kind === 'command') || sayWaiting(step)))
    return undefined;
  state.commands.transfer = { phase: 'asked', request, by: now + transferAnswerMs };
  actions.push(orderOf(request));
  return undefined;
}

/** Lines that wait have no other place than behind the hand-off sentence. True when there were some. */
function sayWaiting(step: Step<'setup' | 'delivery' | 'commands'>): boolean {
  const {
    delivery: { response },
    commands: { lines },
  } = step.state;
  if (response?.writing.phase !== 'tools' || lines.length === 0) return false;
  for (const { id, text } of lines.splice(0)) {
    answer(step, { id, type: 'say' }, { kind: 'done' });
    speakSentence(response, text, voiceOf(step));
  }
  return true;
}

export const spokeFirst = failed(
  'the caller spoke before it, so nothing was done; ask again if it is still wanted',
);

export function orderOf(
  request: TransferRequest,
): Extract<Step['actions'][number], { type: 'carrier.transfer' }> {
  const { commandId, attempt, destination, isNumber, mode, summary } = request;
  return { type: 'carrier.transfer', commandId, attempt, destination, isNumber, mode, summary };
}

/** Another worker had asked: the carrier's side knows the command by its id and answers this one. */
export function resumeTransfer(step: Step<'commands'>): void {
  const { transfer: claim } = step.state.commands;
  if (claim.phase !== 'asked') return;
  step.state.commands.transfer = { ...claim, by: step.now + transferAnswerMs };
  step.actions.push(orderOf(claim.request));
}

/** What the carrier made of it; undefined where nobody waits for that. */
export interface TransferEnd {
  readonly request: TransferRequest;
  readonly outcome: ToolOutcome;
  /** The agent leaves the call. */
  readonly leaves: boolean;
}

export function onCarrierAnswered(step: Step<'commands'>, event: Answered): TransferEnd | undefined {
  const { commands } = step.state;
  const { transfer: claim } = commands;
  if (claim.phase !== 'asked' || claim.request.commandId !== event.commandId) return undefined;
  const { request } = claim;
  const { outcome } = event;
  switch (outcome.kind) {
    case 'ok':
      commands.transfer = { phase: 'accepted' };
      return { request, outcome: { kind: 'result', text: initiated(request) }, leaves: true };
    case 'refused':
      commands.transfer = { phase: 'none' };
      return { request, outcome: failed(notMade(outcome)), leaves: false };
    case 'unknown':
      commands.transfer = { phase: 'unknown', request };
      return { request, outcome: unknownOutcome(outcome.handle), leaves: false };
  }
}

const parkedAt = (handle: string): string => `the caller is parked, and recovery handle ${handle} finds them`;

/** Why a transfer was not made: says where the caller was left, and by which handle an operator finds them (docs/telephony.md, Warm transfers). */
function notMade({ code, left }: Extract<Answered['outcome'], { kind: 'refused' }>): string {
  const why = `the transfer was not made (${code})`;
  if (left === undefined) return why;
  return `${why}: ${left.where === 'parked' ? parkedAt(left.handle) : 'the caller is being put back on the bot'}`;
}

function unknownOutcome(handle: string | undefined): ToolOutcome {
  const unknown = 'nobody knows whether the transfer was made';
  if (handle === undefined) return failed(unknown, true);
  const message = `${unknown}: ${parkedAt(handle)}`;
  return { kind: 'failed', message, transport: true, known: message };
}

/** The carrier has said nothing in its time. */
export const lostAnswer = (state: Pick<CallState, 'commands'>): Answered | undefined =>
  state.commands.transfer.phase === 'asked'
    ? {
        type: 'carrier.answered',
        commandId: state.commands.transfer.request.commandId,
        outcome: { kind: 'unknown' },
      }
    : undefined;

/** The result of `transfer_call` once the carrier has begun. */
const initiated = ({ mode, destination }: TransferRequest): string =>
  JSON.stringify({
    status: 'initiated',
    mode,
    destination,
    summary_delivered: false,
    instruction: 'The caller is being connected. Say nothing more.',
  });

/** Tells whoever gave the command what came of it. */
export function answerTransfer(step: Step<'commands'>, { request, outcome }: TransferEnd): void {
  if (request.by.kind !== 'command') return;
  const { id } = request.by;
  const told = { id, type: 'transfer' } as const;
  if (outcome.kind === 'result') answer(step, told, { kind: 'done' });
  else
    answer(step, told, {
      kind: 'refused',
      code: outcome.transport ? 'outcome_unknown' : 'transfer_failed',
    });
}
