import { resolve } from 'node:path';
import { describe, it, expect } from 'vitest';
import { runCheck } from '../../../cli/commands/check/check-command.ts';
import { changed, goodFile } from './agent-text.ts';

interface Outcome {
  readonly status: 0 | 1;
  readonly lines: readonly string[];
}

function check(files: Readonly<Record<string, string>>, options: { requireSecrets?: boolean } = {}): Outcome {
  const lines: string[] = [];
  const byPath = new Map(Object.entries(files).map(([name, text]) => [resolve(name), text]));
  const status = runCheck('agents/desk.toml', {
    requireSecrets: options.requireSecrets ?? false,
    env: {},
    readFile: (path) => byPath.get(resolve(path)),
    readBytes: () => undefined,
    write: (line) => lines.push(line),
  });
  return { status, lines };
}

describe('check', () => {
  it('accepts a good file with status 0', () => {
    expect(check({ 'agents/desk.toml': goodFile })).toEqual({
      status: 0,
      lines: ['agents/desk.toml: valid'],
    });
  });

  it('prints every error with its place and returns status 1', () => {
    const text = changed(['name = "desk"', 'nmae = "desk"'], ['voice =', 'sample_rate = 8000\nvoice =']);
    expect(check({ 'agents/desk.toml': text })).toEqual({
      status: 1,
      lines: [
        'agents/desk.toml:1:1: error: agent.name is required',
        'agents/desk.toml:2:1: error: agent.nmae is not a known key; did you mean "name"?',
        'agents/desk.toml:18:15: error: tts.sample_rate must be absent or exactly 24000 for this provider',
        'agents/desk.toml: 3 errors',
      ],
    });
  });

  it('warns of an unset key variable, and refuses it with requireSecrets', () => {
    const text = changed(
      ['voice =', 'api_key_env = "TTS_KEY"\nvoice ='],
      ['http://127.0.0.1:8880', 'https://tts.example'],
    );
    const rule = 'tts.api_key_env names the environment variable TTS_KEY, which is not set';
    expect(check({ 'agents/desk.toml': text })).toEqual({
      status: 0,
      lines: [`agents/desk.toml:18:15: warning: ${rule}`, 'agents/desk.toml: valid, 1 warning'],
    });
    expect(check({ 'agents/desk.toml': text }, { requireSecrets: true })).toEqual({
      status: 1,
      lines: [`agents/desk.toml:18:15: error: ${rule}`, 'agents/desk.toml: 1 error'],
    });
  });

  it('finds prompt_file next to the agent file', () => {
    const text = changed(['prompt = "Be brief."', 'prompt_file = "prompt.md"']);
    expect(check({ 'agents/desk.toml': text, 'agents/prompt.md': 'Be kind.' }).status).toBe(0);
    expect(check({ 'agents/desk.toml': text, 'prompt.md': 'Be kind.' }).status).toBe(1);
  });

  it('says so when the file cannot be read', () => {
    expect(check({})).toEqual({
      status: 1,
      lines: [
        'agents/desk.toml:1:1: error: the file cannot be read: there is no such file',
        'agents/desk.toml: 1 error',
      ],
    });
  });
});
