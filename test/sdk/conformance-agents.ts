/** The conformance agents of both SDKs as processes of their own, started as a user starts them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { developmentPython, pythonEnv, pythonSdk } from '../support/python.ts';
import { cleanEnv } from '../support/process/running-demo.ts';
import { conformanceToken } from './conformance.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** A command and its environment, or why it cannot be run here. */
type Program =
  { readonly command: readonly string[]; readonly env: NodeJS.ProcessEnv } | { readonly problem: string };

/** The built SDK, by the hooks with which `agent dev` runs agents. */
function typescript(): Program {
  const hooks = pathToFileURL(join(project, 'dist/supervisor/commands/agent-dev/typescript-hooks.js')).href;
  const agent = 'sdk/typescript/test/conformance-agent.ts';
  return { command: [process.execPath, '--import', hooks, agent], env: cleanEnv() };
}

async function python(): Promise<Program> {
  const found = await developmentPython();
  if ('problem' in found) return found;
  return {
    command: [found.python, 'sdk/python/tests/conformance_agent.py'],
    env: { ...pythonEnv, PYTHONPATH: join(pythonSdk, 'src') },
  };
}

export const sdks = [
  ['TypeScript', typescript],
  ['Python', python],
] as const;

/** One that listens. */
export interface ConformanceAgent {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts the agent of an SDK, or says why it cannot be run here. */
export async function startConformanceAgent(
  programOf: () => Program | Promise<Program>,
): Promise<ConformanceAgent | { readonly problem: string }> {
  const program = await programOf();
  if ('problem' in program) return program;
  const [command = '', ...args] = program.command;
  const env = { ...program.env, SVC_AGENT_TOKEN: conformanceToken, VOICE_AGENT_PORT: '0' };
  const child = spawn(command, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the agent ended before it listened');
  });
  const [text] = await Promise.race([line, ended]);
  // The agent that ends it later is not told of that.
  ended.catch(() => undefined);
  return { child, port: Number(/^listening on (\d+)$/.exec(text)?.[1]) };
}

/** Ends it as an operator does. */
export async function stopConformanceAgent({ child }: ConformanceAgent): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
