/** `docs-mcp` as a coding agent has it: the built command, and the protocol's own client over its standard input and output. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));
const client = new Client({ name: 'test', version: '1' });
let transport: StdioClientTransport;

beforeAll(async () => {
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
  const args = [`${project}dist/supervisor/cli.js`, 'docs-mcp'];
  transport = new StdioClientTransport({ command: process.execPath, args, cwd: '/' });
  await client.connect(transport);
});
afterAll(() => client.close());

const call = async (name: string, given: Readonly<Record<string, unknown>>) => {
  const { content, isError } = await client.callTool({ name, arguments: given });
  return { isError, text: (content as readonly { readonly text: string }[]).map(({ text }) => text).join() };
};

describe('the documentation server', () => {
  it('says who it is and what it has', async () => {
    expect(client.getServerVersion()?.name).toBe('voice-agent-service-docs');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_docs',
      'read_page',
      'agent_file_schema',
      'check_agent_file',
    ]);
  });

  it('searches, reads, and checks', async () => {
    expect((await call('search_docs', { query: 'SVC_WS_ADDR' })).text).toContain('| `SVC_WS_ADDR` |');
    expect((await call('read_page', { page: 'docs/tools.md' })).text).toMatch(/^# /);
    expect((await call('agent_file_schema', { table: 'agent' })).text).toContain('greeting');
    expect((await call('check_agent_file', { text: '[agent]\n' })).text).toContain('agent.name');
  });

  it('answers a question that is none without ending', async () => {
    expect(await call('search_docs', {})).toMatchObject({ isError: true });
    expect(await call('sing', {})).toMatchObject({ isError: true });
    expect((await client.listTools()).tools).toHaveLength(4);
  });

  it('ends with its client', async () => {
    const { pid } = transport;
    await client.close();
    expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
  });
});
