/** Agent files and the ports of the demo's providers: a copy is made where others are in use, and only there. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentFileFor, withPorts } from '../../../examples/demo/agent-copy.ts';

const moved = new Map([
  [6006, 41_001],
  [8085, 41_002],
  [8086, 8086],
]);

describe('an agent file', () => {
  it.each([
    ['base_url = "ws://127.0.0.1:6006"', 'base_url = "ws://127.0.0.1:41001"'],
    [
      'chat_compatible = { base_url="http://localhost:8085/v1" }',
      'chat_compatible = { base_url="http://localhost:41002/v1" }',
    ],
    ["base_url = 'http://127.0.0.1:8085/v1'", "base_url = 'http://127.0.0.1:41002/v1'"],
  ])('names the port in use: %s', (text, copy) => {
    expect(withPorts(`[a]\n${text}\n${text}`, moved)).toBe(`[a]\n${copy}\n${copy}`);
  });

  it.each([
    'base_url = "http://127.0.0.1:8086/v1"',
    'base_url = "http://127.0.0.1:80850/v1"',
    'base_url = "https://llm.example.com:8085/v1"',
    'url = "http://127.0.0.1:8085/tables"',
    'prompt = "Port 8085."',
  ])('keeps what is no provider of the demo, or has not moved: %s', (text) => {
    expect(withPorts(text, moved)).toBe(text);
  });
});

describe('the file for the service', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'agent-copy-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(text: string): { source: string; scratch: string } {
    const [own, scratch] = [join(folder, 'own'), join(folder, 'scratch')];
    for (const path of [join(own, 'sounds'), scratch]) mkdirSync(path, { recursive: true });
    writeFileSync(join(own, 'desk.toml'), text);
    writeFileSync(join(own, 'sounds/hum.wav'), 'hum');
    return { source: join(own, 'desk.toml'), scratch };
  }

  it('is a copy of its name, with everything beside it, where a provider has moved', async () => {
    const { source, scratch } = write('base_url = "ws://127.0.0.1:6006"');
    const path = await agentFileFor(source, { moved, scratch });
    expect(path).toBe(join(scratch, 'agent/desk.toml'));
    expect(readFileSync(path, 'utf8')).toBe('base_url = "ws://127.0.0.1:41001"');
    expect(readFileSync(join(path, '../sounds/hum.wav'), 'utf8')).toBe('hum');
  });

  it('is the file itself where none has, and where there is none', async () => {
    const { source, scratch } = write('base_url = "https://stt.example.com"');
    expect(await agentFileFor(source, { moved, scratch })).toBe(source);
    expect(await agentFileFor('/nowhere/agent.toml', { moved, scratch })).toBe('/nowhere/agent.toml');
  });
});
