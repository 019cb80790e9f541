/** Every agent file that the project shows to a reader is one that the service takes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../../supervisor/check-command.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

function check(name: string, text: string, env: Readonly<Record<string, string>>): readonly string[] {
  const lines: string[] = [];
  runCheck(name, { requireSecrets: true, env, readFile: () => text, write: (line) => lines.push(line) });
  return lines;
}

const files = readdirSync(join(project, 'examples'), { recursive: true, encoding: 'utf8' })
  // Scenarios of a rehearsal are no agent files.
  .filter((name) => name.endsWith('.toml') && !name.endsWith('rehearsal.toml'))
  .map((name) => `examples/${name}`);

describe('the example agent files', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThanOrEqual(5);
  });

  it.each(files)('%s is valid, without a warning, once its keys are set', (name) => {
    const text = readFileSync(join(project, name), 'utf8');
    const keys = [...text.matchAll(/^api_key_env = "(\w+)"/gm)].map(([, variable]) => [variable!, 'a-key']);
    expect(check(name, text, Object.fromEntries(keys) as Record<string, string>)).toEqual([`${name}: valid`]);
  });

  it.each(files)('%s names this file in the command that starts it', (name) => {
    const commands = [...readFileSync(join(project, name), 'utf8').matchAll(/SVC_AGENT_FILE=(examples\S+)/g)];
    expect(commands.every(([, file]) => file === name)).toBe(true);
  });
});

describe('the stages that the README shows', () => {
  const snippets = [
    ...readFileSync(join(project, 'README.md'), 'utf8').matchAll(/```toml\n([\s\S]*?)```/g),
  ].map(([, text]) => text!);
  const demo = readFileSync(join(project, 'examples/demo/agent.toml'), 'utf8');

  it('are there', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(4);
  });

  it.each(snippets)('replace the stage of the demo: %j', (snippet) => {
    const stage = /^\[(stt|llm|tts)\]/m.exec(snippet)![1]!;
    const others = demo.split(/^(?=\[)/m).filter((table) => !new RegExp(`^\\[${stage}[.\\]]`).test(table));
    const text = `${others.join('')}\n${snippet}`;
    expect(check('agent.toml', text, { LLM_API_KEY: 'a-key' })).toEqual(['agent.toml: valid']);
  });
});
