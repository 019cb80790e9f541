/** `check FILE --connect` against servers that answer, refuse, or are not there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { runConnectCheck } from '../../../cli/rehearsal/connect/connect-command.ts';
import { probeWay } from '../../../cli/rehearsal/network-probe.ts';
import { causeOf } from '../../../worker/stages/failure.ts';
import { isPublicAddress } from '../../../shared/runtime/address-guard.ts';
import { patientClock } from '../../support/core/stage-context.ts';
import { ScriptedMcpServer } from '../../support/mcp-server.ts';
import { FakeChat } from '../../support/fakes/fake-chat.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { FakeSpeech } from '../../support/fakes/fake-speech.ts';
import { FakeSttLocalWs } from '../../support/fakes/fake-stt-local-ws.ts';
import { accepting, RawAgent } from '../../support/raw-agent.ts';
import { newRefusingServer, type RefusingServer } from '../../support/fakes/refusing-server.ts';

const chat = new FakeChat();
const speech = new FakeSpeech();
let ears: FakeSttLocalWs;
let refusing: RefusingServer;
let closedPort = 0;
beforeAll(async () => {
  ears = new FakeSttLocalWs({ flavour: 'cpp' });
  await Promise.all([chat.start(), speech.start(), ears.start()]);
  refusing = await newRefusingServer();
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  closedPort = (gone.address() as AddressInfo).port;
  await new Promise((resolve) => gone.close(resolve));
});
afterEach(() => {
  chat.requests.length = 0;
  chat.script.length = 0;
});
afterAll(() => Promise.all([chat.close(), speech.close(), ears.close(), refusing.close()]));

const agent = ({ llm = chat.baseUrl, more = '' } = {}): string => `
[agent]
name = "a"
prompt = "p"
[stt]
provider = "stt_local_ws"
stt_local_ws = { base_url = "${ears.baseUrl}" }
[llm]
provider = "chat_compatible"
api_key_env = "LLM_KEY"
chat_compatible = { base_url = "${llm}", model = "m" }
[tts]
provider = "speech_compatible"
voice = "v"
speech_compatible = { base_url = "${speech.baseUrl}", preset = "generic", model = "m" }
${more}`;

async function check(
  text: string,
  env: Record<string, string> = { LLM_KEY: 'canary-key-1' },
  args = ['a.toml', '--connect'],
) {
  let out = '';
  const errors: string[] = [];
  const status = await runConnectCheck(args, {
    env,
    clock: patientClock,
    readFile: (path) => (path.endsWith('a.toml') ? text : undefined),
    readBytes: () => undefined,
    output: { write: (line: string) => ((out += line), true) },
    writeError: (line) => void errors.push(line),
  });
  return { status, out, lines: out.trimEnd().split('\n'), errors };
}

describe('check --connect', () => {
  it('asks every provider for one thing and tells what each step took', async () => {
    const { status, lines } = await check(agent());
    const took = String.raw`in \d+(\.\d)? m?s`;
    expect(lines[0]).toBe('a.toml: valid');
    expect(lines[1]).toMatch(
      new RegExp(
        `^ok {6}stt sherpa-onnx \\(stt_local_ws\\) at 127\\.0\\.0\\.1:\\d+: connected ${took}, silence recognised ${took}$`,
      ),
    );
    expect(lines[2]).toMatch(new RegExp(`^ok {6}llm .*connected ${took}, first text ${took}$`));
    expect(lines[3]).toMatch(new RegExp(`^ok {6}tts .*connected ${took}, first sound ${took}$`));
    expect(lines[4]).toBe('everything answers');
    expect(status).toBe(0);
    expect(chat.requests).toHaveLength(1);
  });

  it('holds the smallest session with a model that hears and speaks', async () => {
    const server = new FakeOpenAiRealtime();
    await server.start();
    const more = `[realtime]
provider = "openai_realtime"
api_key_env = "LLM_KEY"
openai_realtime = { base_url = "${server.baseUrl}" }`;
    const { status, lines } = await check(agent({ more }));
    expect(lines.find((line) => line.includes('realtime'))).toMatch(
      /^ok {6}realtime OpenAI Realtime \(openai_realtime\) at 127\.0\.0\.1:\d+: connected in .*, first answer in /,
    );
    expect(status).toBe(0);
    expect(server.last.turnsMs).toEqual([expect.closeTo(500, -1.5)]);
    await server.until(() => server.last.closed === 1000);
    server.replies.push({
      status: 'failed',
      details: { type: 'failed', error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
    });
    const refused = await check(agent({ more }));
    expect(refused.lines.find((line) => line.includes('realtime'))).toMatch(
      /^FAILED {2}realtime .*rejected 429 \(insufficient_quota\)/,
    );
    server.refuseWith = 401;
    const unknown = await check(agent({ more }));
    expect(unknown.lines.find((line) => line.includes('realtime'))).toMatch(
      /^FAILED {2}realtime .*rejected 401; .*LLM_KEY \(realtime\.api_key_env\)$/,
    );
    await server.close();
  });

  it('has a handshake with the agent process and each route, and no call behind it', async () => {
    const process = await RawAgent.start(accepting({ tools: [{ name: 'lookup' }] }));
    const env = { LLM_KEY: 'canary-key-1', SVC_AGENT_URL: process.url };
    const routes = `[[agent_link.routes]]\nname = "none"\nurl = "ws://127.0.0.1:${closedPort}/canary"`;
    const { status, out } = await check(agent({ more: routes }), env);
    expect(out).toMatch(/ok {6}agent process at 127\.0\.0\.1:\d+: call accepted with 1 tool in /);
    expect(out).toMatch(/FAILED {2}agent none at 127\.0\.0\.1:\d+: no link \(ECONNREFUSED\)/);
    expect([status, out.includes('canary')]).toEqual([1, false]);
    const session = await process.session();
    await session.closed();
    expect(session.events.map(({ type }) => type)).toEqual(['session.start', 'session.end']);
    await process.close();
  });

  it('tries secondaries, tool servers and the hosts of tools, and fails with a line for each that does not answer', async () => {
    refusing.refusal = {
      status: 401,
      body: '{"error":{"code":"invalid_api_key","message":"Invalid API key canary-key-1"}}',
    };
    const more = `
[llm.secondary]
provider = "chat_compatible"
api_key_env = "LLM_KEY"
chat_compatible = { base_url = "http://${refusing.host}/v1", model = "m" }
[tts.secondary]
provider = "speech_compatible"
voice = "v"
speech_compatible = { base_url = "http://127.0.0.1:${closedPort}/v1", preset = "generic", model = "m" }
[[mcp]]
name = "desk"
url = "http://${refusing.host}/mcp"
[[mcp]]
name = "crm"
command = ["no-such-program"]
[[tools]]
name = "weather"
description = "Tells the weather."
parameters = { type = "object", properties = { city = { type = "string" } } }
http = { url = "http://${refusing.host}/weather/{city}", allow_private = true }
`;
    const { status, out, lines } = await check(agent({ more }));
    expect(status).toBe(1);
    expect(lines.find((line) => line.includes('llm secondary'))).toMatch(
      /^FAILED {2}llm secondary .* rejected 401 \(invalid_api_key\); .*LLM_KEY \(llm\.secondary\.api_key_env\)$/,
    );
    expect(lines.find((line) => line.includes('tts secondary'))).toMatch(
      /^FAILED .*disconnected \(ECONNREFUSED\); nothing listens .*tts\.secondary\.speech_compatible\.base_url$/,
    );
    expect(lines.find((line) => line.includes('mcp desk'))).toMatch(/^FAILED .*rejected 401.*headers_env/);
    expect(lines.find((line) => line.includes('mcp crm'))).toMatch(/^FAILED .*exit:127.*PATH$/);
    expect(lines.find((line) => line.includes('tool weather'))).toMatch(/^ok .*connected in/);
    expect(lines.at(-1)).toBe('4 of 8 failed');
    expect(out).not.toContain('canary');
  });

  it('says which tools of a server the LLM is not offered, and which by another name', async () => {
    const page = JSON.stringify({
      tools: [
        { name: 'calendar.update', inputSchema: { type: 'object' } },
        { name: 'broken', inputSchema: { type: 'object', properties: { a: { type: 'no type' } } } },
        { inputSchema: { type: 'object' } },
      ],
    });
    const server = new ScriptedMcpServer({ page });
    const more = `[[mcp]]\nname = "crm"\nurl = "${await server.start()}"\nside_effects = ["refund"]\n`;
    const { status, lines } = await check(agent({ more }));
    server.close();
    expect(status).toBe(0);
    const told = lines
      .filter((line) => line.includes('mcp crm'))
      .map((line) => line.replace(/ at 127\.0\.0\.1:\d+/, ''));
    expect(told[0]).toMatch(/^ok {6}mcp crm: 2 tools listed in /);
    expect(told.slice(1)).toEqual([
      'note    mcp crm: a tool is left out: has no name',
      expect.stringMatching(
        /^note {4}mcp crm: a tool is left out: broken has a schema that is refused: parameters\.properties\.a/,
      ),
      'note    mcp crm: the file names the tool refund, which the server does not list',
      'note    mcp crm: the tool calendar.update is calendar_update to the LLM',
    ]);
  });

  it('tells TLS to a plain port and a name that is none apart', async () => {
    const tls = await check(agent({ llm: chat.baseUrl.replace('http:', 'https:') }));
    expect(tls.out).toMatch(/FAILED .*ERR_SSL_WRONG_VERSION_NUMBER.*does not speak TLS.*base_url/);
    const name = await check(agent({ llm: 'https://no-such-host.invalid/v1' }));
    expect(name.out).toMatch(/FAILED .*(ENOTFOUND|EAI_AGAIN|name lookup).*DNS/);
  });

  it('never leads a tool to a private address that it may not reach', async () => {
    const url = new URL(`http://localhost:${Number(refusing.host.split(':')[1])}`);
    const { steps, error } = await probeWay(url, { clock: systemClock, mayReach: isPublicAddress });
    expect(steps.map(({ what }) => what)).toEqual(['resolved']);
    expect(causeOf(error!, [])).toEqual({ code: 'ADDRESS_REFUSED' });
  });

  it('opens nothing for a file with errors or without its keys', async () => {
    expect(await check(agent(), {})).toMatchObject({ status: 1 });
    expect((await check('[agent]\n')).status).toBe(1);
    expect(chat.requests).toEqual([]);
  });

  it('explains itself when it is asked for something else', async () => {
    expect(await check(agent(), {}, ['--connect'])).toMatchObject({ status: 2, out: '' });
    expect((await check(agent(), {}, ['a.toml', '--connect', '--loud'])).errors[0]).toContain(
      'unknown option --loud',
    );
  });
});
