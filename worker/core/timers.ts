/**
 * Everything in a call that waits for time, by name. The shell sleeps until the earliest of them; those that were due are told,
 * in this order, right before it is done.
 */
import type { Millis } from '../../shared/base/units.ts';
import { onFlowDeadline, onToolDeadline } from './answer/answering.ts';
import { candidateDeadline } from './turn/candidate.ts';
import { coveredDeadline } from './turn/covered.ts';
import { owesWords } from './dialogue/agent-side.ts';
import { hear } from './dialogue/hear.ts';
import { courseDeadline, courseIsDue, isOpen } from './course.ts';
import { sttDeadline } from './turn/hearing.ts';
import { idleDeadline, onIdleDeadline } from './dialogue/idle.ts';
import { onDtmfDeadline } from './dialogue/keys.ts';
import { decisionDeadline, finalDeadline } from './turn/listening.ts';
import { murmurDeadline, onMurmurDue } from './turn/murmur.ts';
import { askEarlyAt } from './turn/pause.ts';
import { onRetryDeadline, retryDeadline } from './answer/outage.ts';
import { onSilenceDeadline, silenceDeadline } from './answer/silence.ts';
import { completeResponse, endCall } from './answer/speaking.ts';
import { onShutdownDue, shutdownDeadline } from './dialogue/shutdown.ts';
import { onOperatorDue } from './dialogue/takeover.ts';
import { agentLeads, operatorDeadline } from './operator.ts';
import { agentChangeDeadline } from './answer/agent-change.ts';
import { transferDeadline } from './answer/transfer.ts';
import { onTransferDue, settleAgent } from './answer/transferring.ts';
import type { CallState, Step, Slices } from './state.ts';
import { tell, type TimerName } from './told.ts';
import type { DueName } from './turn/step-turn.ts';
import { nextToolDeadline } from './tools/tools.ts';

interface Timer {
  readonly name: TimerName;
  /** When it is due; undefined while it does not wait. */
  readonly due: (state: CallState) => Millis | undefined;
  readonly fire: (step: Step) => void;
}

/** The turn machine is told. */
const due =
  (type: DueName) =>
  (step: Step): void =>
    hear(step, { type });

const timers: readonly Timer[] = [
  { name: 'candidate', due: candidateDeadline, fire: due('candidate.due') },
  { name: 'decision', due: decisionDeadline, fire: due('decision.due') },
  {
    name: 'murmur',
    due: (state) => (agentLeads(state) ? murmurDeadline(state) : undefined),
    fire: onMurmurDue,
  },
  { name: 'early text', due: askEarlyAt, fire: due('early_text.due') },
  {
    name: 'words',
    due: (state) => coveredDeadline(state, { owes: owesWords(state) }),
    fire: due('words.due'),
  },
  { name: 'final text', due: finalDeadline, fire: due('final_text.due') },
  { name: 'stt', due: sttDeadline, fire: due('stt.due') },
  { name: 'keys', due: ({ keys }) => keys.completeAt, fire: onDtmfDeadline },
  { name: 'transfer', due: transferDeadline, fire: onTransferDue },
  { name: 'agent', due: agentChangeDeadline, fire: settleAgent },
  { name: 'tools', due: ({ tools }) => nextToolDeadline(tools), fire: onToolDeadline },
  // A move of the flow that waits for its safe point needs no further look.
  { name: 'flow', due: ({ conversation: { flow } }) => flow?.leavesAt, fire: onFlowDeadline },
  { name: 'silence', due: silenceDeadline, fire: onSilenceDeadline },
  { name: 'retry', due: retryDeadline, fire: onRetryDeadline },
  { name: 'last mark', due: lastMarkDeadline, fire: completeResponse },
  { name: 'idle', due: idleDeadline, fire: onIdleDeadline },
  { name: 'time limit', due: ({ course }) => courseDeadline(course), fire: onTimeLimit },
  { name: 'shutdown', due: ({ course }) => shutdownDeadline(course), fire: onShutdownDue },
  { name: 'operator', due: operatorDeadline, fire: onOperatorDue },
  { name: 'end', due: ({ commands }) => commands.end?.by, fire: (step) => endCall(step, 'ended') },
];

/** When the shell must deliver `deadline.reached`; undefined when nothing waits for time. */
export function nextDeadline(state: CallState): Millis | undefined {
  if (!isOpen(state.course)) return undefined;
  let earliest = Infinity;
  for (const { due } of timers) {
    const at = due(state);
    if (at !== undefined && at < earliest) earliest = at;
  }
  return earliest === Infinity ? undefined : earliest;
}

/** Does what is due. One timer may change what the next one waits for. */
export function onDeadline(step: Step): void {
  for (const { name, due, fire } of timers) {
    if (step.state.course.phase === 'ended') return;
    const at = due(step.state);
    if (at === undefined || step.now < at) continue;
    tell(step, { type: 'timer.fired', timer: name });
    fire(step);
  }
}

/** A client need not say that it has played a response to its end. */
function lastMarkDeadline({ delivery: { response } }: Slices<'delivery'>): Millis | undefined {
  return response?.playing.phase === 'draining' ? response.playing.endsBy : undefined;
}

function onTimeLimit(
  step: Step<
    'setup' | 'course' | 'caller' | 'speculation' | 'delivery' | 'commands' | 'conversation' | 'tools'
  >,
): void {
  if (courseIsDue(step.state.course, step.now)) endCall(step, 'ended');
}
