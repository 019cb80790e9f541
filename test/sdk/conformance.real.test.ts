/**
 * The SDKs as processes of their own in the scenarios that every SDK of the agent link must pass. Each agent is started once, as a user
 * starts it, and ends by SIGTERM.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { developmentPython, pythonEnv, pythonSdk } from '../support/python.ts';
import { cleanEnv } from '../support/process/running-demo.ts';
import { conformanceToken, play, scenarios } from './conformance.ts';

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

function python(): Program {
  const found = developmentPython();
  if ('problem' in found) return found;
  return {
    command: [found.python, 'sdk/python/tests/conformance_agent.py'],
    env: { ...pythonEnv, PYTHONPATH: join(pythonSdk, 'src') },
  };
}

describe.each([
  ['TypeScript', typescript],
  ['Python', python],
])('the %s SDK', (_, programOf) => {
  let agent: ChildProcess | undefined;
  let port = 0;
  let problem = '';

  beforeAll(async () => {
    const program = programOf();
    if ('problem' in program) {
      ({ problem } = program);
      return;
    }
    const [command = '', ...args] = program.command;
    const env = { ...program.env, SVC_AGENT_TOKEN: conformanceToken, VOICE_AGENT_PORT: '0' };
    agent = spawn(command, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const line = once(createInterface({ input: agent.stdout ?? process.stdin }), 'line') as Promise<[string]>;
    const ended = once(agent, 'exit').then((): never => {
      throw new Error('the agent ended before it listened');
    });
    const [text] = await Promise.race([line, ended]);
    port = Number(/^listening on (\d+)$/.exec(text)?.[1]);
    expect(port).toBeGreaterThan(0);
  }, 300_000);

  afterAll(async () => {
    if (agent === undefined || agent.exitCode !== null) return;
    const ended = once(agent, 'exit');
    agent.kill('SIGTERM');
    await ended;
  });

  for (const scenario of scenarios)
    it(`${scenario.name} (${scenario.row})`, async (context) => {
      context.skip(problem !== '', problem);
      await play(port, scenario);
    });
});
