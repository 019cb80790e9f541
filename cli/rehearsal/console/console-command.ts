/** The command `console AGENT.toml`: a call with the agent by typing and reading (see docs/rehearsal.md). */
import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { showProblem } from '../../../shared/config/problem.ts';
import { readArguments, usageError } from '../../commands/commands.ts';
import { openAgent, type AgentSources } from '../agent.ts';
import { coloursFor } from '../colours.ts';
import { ConsoleSession } from './console-session.ts';
import { ConversationView } from '../conversation-view.ts';

export interface ConsoleCommandOptions extends AgentSources {
  readonly input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>;
  readonly output: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY'>>;
}

/** Returns the exit status: 0 after a call, 2 when there was none. */
export async function runConsole(args: readonly string[], options: ConsoleCommandOptions): Promise<0 | 2> {
  const parsed = readArguments('console', args);
  if (!parsed.ok) {
    options.writeError(usageError('console', parsed.error));
    return 2;
  }
  const [file = ''] = parsed.value.given;
  const { agent, problems } = await openAgent(file, options);
  for (const problem of problems)
    if (problem.severity === 'error') options.writeError(showProblem(file, problem));
  if (agent === undefined) return 2;
  const isInteractive = options.input.isTTY === true && options.output.isTTY === true;
  const lines = createInterface({
    input: options.input,
    ...(isInteractive && { output: options.output, prompt: 'you> ' }),
    terminal: isInteractive,
    historySize: 100,
  });
  const write = writerFor(lines, { output: options.output, isInteractive });
  const colours = coloursFor(options.output, options.env);
  const view = new ConversationView({
    colours,
    write,
    streams: isInteractive,
    showsCaller: !isInteractive,
  });
  const call = agent.newCall({
    pace: isInteractive ? 'speech' : 'none',
    sink: (event) => view.take(event),
  });
  const session = new ConsoleSession(call, {
    notice: (line) => write(colours.aside(line)),
    isInteractive,
    wantsLines: (wanted) => {
      if (wanted) lines.resume();
      else lines.pause();
    },
  });
  lines.on('line', (line) => session.line(line));
  lines.on('SIGINT', () => session.interrupt());
  lines.on('close', () => session.end());
  if (isInteractive) write(colours.aside(`A call with ${agent.name}. /help says what you can do.`));
  await session.run();
  call.close();
  lines.close();
  await agent.close();
  return 0;
}

/** Writes lines above the one that is being typed. */
function writerFor(
  lines: Interface,
  { output, isInteractive }: { output: NodeJS.WritableStream; isInteractive: boolean },
): (line: string) => void {
  let isClosed = false;
  lines.once('close', () => (isClosed = true));
  if (!isInteractive) return (line) => void output.write(`${line}\n`);
  return (line) => {
    clearLine(output, 0);
    cursorTo(output, 0);
    output.write(`${line}\n`);
    if (!isClosed) lines.prompt(true);
  };
}
