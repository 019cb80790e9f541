/** The live view as lines of a terminal. */
import type { LiveState } from '../../../shared/protocol/live.ts';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function age(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0')];
  return `${minutes}:${rest}`;
}

/** What stands around the calls: state, heads, empty lines, how many calls are left out, and the line behind all of it. */
const otherLines = 9;
/** Of agents that are wrong. */
const mostProblems = 3;

/** @param rows of the terminal; all calls are shown without it. */
export function shownState(state: LiveState, rows = Infinity): string[] {
  const {
    agent,
    agentProblems = [],
    ready,
    why = '',
    sessions,
    maxSessions,
    calls,
    workers,
    providers,
  } = state;
  const wrong = Math.min(mostProblems, agentProblems.length);
  const room = Math.max(1, rows - otherLines - wrong - workers.length - providers.length);
  const shown = calls.length > room ? calls.slice(0, room) : calls;
  const callRows = shown.map((call) => [
    call.call,
    age(call.ageMs),
    call.isOwed ? `${call.speaker}, answer owed` : call.speaker,
    String(call.turns),
    call.lastResponseMs === undefined ? '-' : `${call.lastResponseMs} ms`,
    String(call.interruptions),
    String(call.runningTools),
    `${call.faults.stt}/${call.faults.llm}/${call.faults.tts}`,
    String(call.worker),
  ]);
  const workerRows = workers.map((one) => [
    String(one.worker),
    String(one.calls),
    `${one.latenessMs.toFixed(1)} ms`,
    `${one.silentMs} ms`,
  ]);
  return [
    `${agent}: ${ready ? 'ready' : `not ready (${why})`}, ${sessions}${maxSessions === undefined ? '' : ` of ${maxSessions}`} calls`,
    ...agentProblems.slice(0, mostProblems),
    '',
    ...table(
      ['CALL', 'AGE', 'SPEAKS', 'TURNS', 'LAST ANSWER', 'INTERRUPTED', 'TOOLS', 'FAULTS S/L/T', 'WORKER'],
      callRows,
    ),
    ...(shown.length < calls.length
      ? [`... and ${calls.length - shown.length} more: all with --once, or in a higher window`]
      : []),
    '',
    ...table(['WORKER', 'CALLS', 'WORST LATENESS', 'LAST SIGN OF LIFE'], workerRows),
    '',
    ...table(
      ['STAGE', 'PROVIDER', 'ROLE', 'BREAKER'],
      providers.map(({ stage, provider, role, breaker }) => [stage, provider, role, breaker]),
    ),
  ];
}
