/**
 * Which tools an agent file provides, and whether a name that the file uses is one of them. A server without an allow-list may provide any name; that
 * is known only once it runs.
 */
import type { KeyPath, ProblemList } from '../problem.ts';
import { agentTool } from '../../agents/team.ts';
import { isTable } from '../table.ts';

const transferTool = 'transfer_call';
/** Tools that need no declaration. */
export const pauseTool = 'pause_recording';
export const resumeTool = 'resume_recording';
export const builtInToolNames: readonly string[] = [
  'end_call',
  transferTool,
  agentTool,
  'send_dtmf',
  pauseTool,
  resumeTool,
];
const isOfRecordings = (name: string): boolean => name === pauseTool || name === resumeTool;

export interface ProvidedTools {
  /** Declared here, on an allow-list, or built in. */
  readonly names: ReadonlySet<string>;
  /** Whether a server may provide others. */
  readonly isOpen: boolean;
  /** Whether the process at the other end of the agent link may bring others along. */
  readonly mayComeFromAgent: boolean;
  /** Without a destination `transfer_call` is not registered. */
  readonly hasDestinations: boolean;
  /** Without a team `transfer_to_agent` is not registered. */
  readonly hasTeam: boolean;
  /** Where no recording can be paused, `pause_recording` and `resume_recording` are not registered. */
  readonly isRecorded: boolean;
}

/** Reports a name that nothing provides, and one that the list holds already. */
export function checkToolNames(
  names: readonly string[] | undefined,
  at: KeyPath,
  { provided, problems }: { readonly provided: ProvidedTools; readonly problems: ProblemList },
): void {
  names?.forEach((name, index) => {
    const place = [...at, index];
    if (names.indexOf(name) !== index) problems.error(place, 'repeats a name of the list');
    else if (name === transferTool && !provided.hasDestinations)
      problems.error(place, `names ${transferTool}, which needs an entry in telephony.destinations`);
    else if (name === agentTool && !provided.hasTeam)
      problems.error(place, `names ${agentTool}, which needs [agent.team]`);
    else if (isOfRecordings(name) && !provided.isRecorded)
      problems.error(
        place,
        `names ${name}, which needs recording.audio or recording.transcript, without recording.facts`,
      );
    else if (!provided.names.has(name) && provided.isOpen)
      problems.note(place, 'is the name of a tool that an MCP server must provide once it runs');
    else if (!provided.names.has(name) && provided.mayComeFromAgent)
      problems.note(place, 'is the name of a tool that the agent process must bring along');
    else if (!provided.names.has(name))
      problems.error(
        place,
        `must be the name of a tool: no tool of this name is provided (there is ${shownNames(provided)})`,
      );
  });
}

/** Warns of tools that are declared and that the agent's list leaves out: nobody would ever see them run. */
export function warnOfUnnamedTools(
  declared: unknown,
  names: readonly string[] | undefined,
  { provided, problems }: { readonly provided: ProvidedTools; readonly problems: ProblemList },
): void {
  // An agent process chooses for each call.
  if (names === undefined || provided.mayComeFromAgent || !Array.isArray(declared)) return;
  declared.forEach((tool: unknown, index) => {
    const name: unknown = isTable(tool) ? tool['name'] : undefined;
    if (typeof name === 'string' && !names.includes(name))
      problems.warning(
        ['tools', index, 'name'],
        'is not in agent.tools, so the LLM is not told of this tool',
      );
  });
}

const mostShown = 8;

function shownNames({ names, hasDestinations, hasTeam, isRecorded }: ProvidedTools): string {
  const all = [...names].filter(
    (name) =>
      (hasDestinations || name !== transferTool) &&
      (hasTeam || name !== agentTool) &&
      (isRecorded || !isOfRecordings(name)),
  );
  return all.length > mostShown ? `${all.slice(0, mostShown).join(', ')}, ...` : all.join(', ');
}
