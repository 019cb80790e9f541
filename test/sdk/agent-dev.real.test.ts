/** `svc-supervisor agent dev` as a developer has it: the whole command, a real agent, a caller, and files that change. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { Conversation } from '../support/core/conversation.ts';
import { stopped } from '../support/process/running-demo.ts';
import { build, TestService } from '../support/process/service.ts';
import { AgentDev } from './agent-dev-command.ts';
import { ServiceEnd } from './service-end.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const commands: AgentDev[] = [];
const folders: string[] = [];

function run(args: readonly string[], env?: Readonly<Record<string, string>>): AgentDev {
  const command = new AgentDev(args, env);
  commands.push(command);
  return command;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-dev-'));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const { child } of commands.splice(0)) await stopped(child);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const ownService = ['--no-service', '--tap-port', '0'];
const urlOf = async (command: AgentDev): Promise<string> =>
  (await command.says(/SVC_AGENT_URL=(\S+)/))[1] ?? '';

const agentFile = (greeting: string): string => `
import { Agent } from '@voice-agent-service/agent';
import { text } from './words/text.js';
const agent: Agent = new Agent({ name: 'dev', greeting: '${greeting} ' + text });
await agent.listen();
`;

describe('the hooks for TypeScript', () => {
  it('leave it to Node where esbuild is not installed, and say which Node can', () => {
    build();
    const folder = newFolder();
    const hooks = join(folder, 'hooks.mjs');
    copyFileSync(join(project, 'dist/supervisor/commands/agent-dev/typescript-hooks.js'), hooks);
    writeFileSync(
      join(folder, 'agent.ts'),
      "import { word } from './word.js';\nconst said: string = word;\nconsole.log(said);",
    );
    writeFileSync(join(folder, 'word.ts'), "export const word: string = 'ready';");
    const args = ['--import', hooks, join(folder, 'agent.ts')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const takesTypesOff = Boolean((process.features as { readonly typescript?: unknown }).typescript);
    if (takesTypesOff) expect([status, stdout], stderr).toEqual([0, 'ready\n']);
    else
      expect(stderr).toContain(
        'an agent in TypeScript needs Node 22.18 or newer, or esbuild installed beside it',
      );
  });
});

describe('agent dev', () => {
  it('starts an agent in TypeScript without a build, and anew when a file of it changes', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'words'));
    const file = join(folder, 'agent.ts');
    writeFileSync(file, agentFile('One'));
    writeFileSync(join(folder, 'words/text.ts'), "export const text: string = 'day';");
    const command = run([file, ...ownService]);
    const url = await urlOf(command);
    await command.says(/the agent listens/);
    const first = await ServiceEnd.open(url);
    expect(await first.start()).toMatchObject({ greeting: 'One day' });
    for (const [path, text, greeting] of [
      [file, agentFile('Two'), 'Two day'],
      [join(folder, 'words/text.ts'), "export const text = 'nights';", 'Two nights'],
    ] as const) {
      const from = command.lines.length;
      writeFileSync(path, text);
      await command.says(/a file changed/, from);
      await command.says(/the agent listens/, from);
      const next = await ServiceEnd.open(url);
      expect(await next.start()).toMatchObject({ greeting });
    }
    await first.until(() => first.closed !== undefined);
  });

  it('says that an agent ended by its own fault, and starts it when that is mended', async () => {
    const file = join(newFolder(), 'agent.ts');
    writeFileSync(file, "throw new Error('a mistake');");
    const command = run([file, ...ownService]);
    await command.says(/a mistake/);
    await command.says(/^-- the agent ended \(1\)/);
    writeFileSync(
      file,
      "import { Agent } from '@voice-agent-service/agent';\nawait new Agent({ name: 'x' }).listen();\n",
    );
    await command.says(/the agent listens/);
  });

  it.each([
    ['a typo', 'const agent = new Agent({ name: "x" ;\n', /agent\.ts:1:36: ERROR: Expected/],
    [
      'a package that is not installed',
      "import 'no-such-package';\n",
      /Cannot find package 'no-such-package'/,
    ],
  ])('says what is wrong with %s, in one place, and goes on watching', async (_, text, words) => {
    const file = join(newFolder(), 'agent.ts');
    writeFileSync(file, text);
    const command = run([file, ...ownService]);
    await command.says(words);
    await command.says(/^-- the agent ended \(1\); it starts again when a file changes/);
  });

  it('takes a save in the middle of a call: that call goes on, the next one gets the new agent', async () => {
    const file = join(newFolder(), 'agent.ts');
    const text = (greeting: string): string =>
      `import { Agent } from '@voice-agent-service/agent';
await new Agent({ name: 'dev', greeting: '${greeting}' }).listen();
`;
    writeFileSync(file, text('Before.'));
    const command = run([file, ...ownService]);
    const url = await urlOf(command);
    await command.says(/the agent listens/);
    const service = await TestService.start({ env: { SVC_AGENT_URL: url } });
    const { tts, llm } = service.providers;
    const spokenText = (words: string) => () => tts.requests.some(({ body }) => body['input'] === words);
    const call = await service.call();
    await tts.until(spokenText('Before.'));
    const from = command.lines.length;
    writeFileSync(file, text('After.'));
    await command.says(/the agent listens/, from);
    // The new process takes the call up, and does not greet again.
    await service.counted('svc_agent_links_total{what="resumed"}', 1);
    const before = llm.requests.length;
    call.sendText('are you there');
    await llm.until(() => llm.requests.length > before);
    expect(spokenText('After.')()).toBe(false);
    const next = await service.call();
    await tts.until(spokenText('After.'));
    call.abandon();
    next.abandon();
    await service.stop();
  });

  it('killed, leaves nothing behind of what it started', async () => {
    const command = run(['sdk/typescript/examples/hello.ts', '--free-ports']);
    await command.says(/^-- speak with it at http:/);
    await command.says(/the agent listens/);
    command.child.kill('SIGKILL');
    // The agent and the demo write where it wrote: the streams end with the last of them.
    await command.until(() => command.isOver);
  });

  it('prints what passes on the link, passes pings on, and refuses what the agent refuses', async () => {
    const command = run(['sdk/typescript/examples/hello.ts', ...ownService], { SVC_AGENT_TOKEN: 'secret' });
    const url = await urlOf(command);
    await command.says(/the agent listens/);
    const stranger = new ServiceEnd(url);
    await stranger.until(() => stranger.refused !== undefined);
    expect(stranger.refused).toBe(401);
    const end = await ServiceEnd.open(url, { headers: { authorization: 'Bearer secret' } });
    expect(await end.start()).not.toHaveProperty('events');
    end.socket.ping();
    await once(end.socket, 'pong');
    end.send({ type: 'user.text', epoch: 1, text: 'goodbye' });
    await end.next('end');
    end.socket.terminate();
    await command.says(/ > session\.start {2}protocol="svc\.agent"/);
    await command.says(/ < session\.accept {2}version=1/);
    await command.says(/ > user\.text {2}epoch=1 {2}text="goodbye"$/);
    await command.says(/ < end {2}say="Goodbye!"/);
    expect(command.lines.join('\n')).not.toContain('secret');
  });

  it('refuses a port of the agent where another program listens', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const file = join(newFolder(), 'agent.mjs');
    writeFileSync(file, '');
    const command = run([file, ...ownService, '--port', String(port)]);
    await command.says(/^--port: another program listens there/);
    expect(await once(command.child, 'exit')).toEqual([1, null]);
    other.close();
  });

  it.each([
    [['agent.rb'], /^FILE: must end in/],
    [['missing.ts'], /^FILE: there is no such file/],
    [['missing.ts', '--port', 'x'], /^--port, --tap-port: must be/],
  ])('refuses %o', async (args, rule) => {
    const command = run(args);
    await command.says(rule);
    expect(await once(command.child, 'exit')).toEqual([2, null]);
  });

  it('runs the receptionist beside the demo with one command, and ends with all that it started', async () => {
    const command = run(['examples/agent-link/receptionist/receptionist.ts', '--free-ports']);
    const [, ws = ''] = await command.says(/WebSocket +(ws:\S+)/);
    await command.says(/^-- speak with it at http:/);
    await command.says(/the agent listens/);
    const call = await Conversation.open({ ws, rate: 16_000 });
    await command.says(/ > turn\.bot_started/);
    await command.says(/ > bot\.tts_text .*Blue Door/);
    await call.client.hangUp();
    await command.says(/ > session\.end {2}reason="hangup"/);
    await stopped(command.child);
    expect(command.lines.join('\n')).not.toMatch(/Warning|Error:/);
  });
});
