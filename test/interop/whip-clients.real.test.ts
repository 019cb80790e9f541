/**
 * WHIP clients as they are published, against one service with a token, their pages on another host: each connects, asks, is answered, and
 * hangs up. A client that can hear is asked whether it heard the answer.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { chromiumMissing, openChromium, type ChromiumPage } from '../support/chromium.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { Firefox, firefoxMissing } from '../support/firefox.ts';
import { TestService } from '../support/process/service.ts';
import { aiortcPython, clientsMissing } from '../support/webrtc/clients/installed.ts';
import { ClientProgram } from '../support/webrtc/clients/program.ts';
import { WhipPage, type WhipClientName } from '../support/webrtc/clients/whip-page.ts';

const token = 'static-token-of-a-test';
const folder = mkdtempSync(join(tmpdir(), 'whip-clients-'));
const voiceFile = join(folder, 'question.pcm');
const programs = fileURLToPath(new URL('../support/webrtc/clients', import.meta.url));
let service: TestService;
let page: WhipPage;
let calls = 0;
const toClose: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  const flite = await loadFlite();
  const spoken = flite('What time is it?', { voice: 'slt', speed: 1 });
  const question = new Int16Array(spoken.length + 32_000);
  question.set(spoken);
  writeFileSync(voiceFile, Buffer.from(question.buffer));
  page = await WhipPage.open(question);
  service = await TestService.start({
    greeting: 'Hello there.',
    env: {
      ...{ SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_WEBRTC_TOKEN: token },
      SVC_WEBRTC_UDP_ADDR: `${ownAddress}:0`,
      ...{ SVC_WEBRTC_CORS_ORIGIN: new URL(page.url).origin, SVC_WEBRTC_OFFERS_PER_MINUTE: 'off' },
    },
  });
});

afterEach(async () => {
  for (const close of toClose.splice(0)) await close();
});

afterAll(async () => {
  page.close();
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** Firefox takes no candidate of a loopback address. */
const ownAddress =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';

const endpoint = (): string => `http://${service.address('webrtc')}/whip`;

/** The question is put, by a caller who says it now, and the service answers it. */
async function asks(say: () => unknown): Promise<void> {
  calls += 1;
  const text = `what time is it ${'again '.repeat(calls)}`.trim();
  service.providers.stt.utterances.push(text);
  service.providers.llm.script.push(answer('It is noon, as far as I can see from here.'));
  await say();
  const isAsked = (): boolean =>
    service.providers.llm.requests.some(({ body }) => JSON.stringify(body['messages']).includes(`${text}"`));
  await service.providers.llm.until(isAsked);
}

/** Clients close their connection with their DELETE, some before it: which of the two the worker hears of first is chance. */
async function hungUp(): Promise<void> {
  await service.says('call ended', () => ended() === calls);
  expect(service.said('call ended')?.['end']).toBe('hangup');
  await service.readyWhen((body) => body['connections'] === 0);
}

const ended = (): number => service.log.filter(({ msg }) => msg === 'call ended').length;

describe.skipIf(clientsMissing !== undefined)(`WHIP clients in programs ${clientsMissing ?? ''}`, () => {
  async function called(command: string, file: string): Promise<ClientProgram> {
    const program = new ClientProgram(command, [join(programs, file), endpoint(), token, voiceFile]);
    toClose.push(() => program.close());
    expect(await program.tells('answered')).toMatchObject({ status: 201 });
    await program.tells('state', ({ state }) => state === 'connected');
    return program;
  }

  async function hangsUp(program: ClientProgram): Promise<void> {
    program.command('hang up');
    expect(await program.tells('over')).toMatchObject({ status: 200 });
    await hungUp();
  }

  it.skipIf(aiortcPython === undefined)('aiortc: greeting, question, answer', async () => {
    const program = await called(aiortcPython ?? '', 'aiortc_caller.py');
    const loud = (): number => Number(program.told.findLast(({ event }) => event === 'heard')?.['loud'] ?? 0);
    await program.until(() => loud() > 10);
    const before = loud();
    await asks(() => program.command('say'));
    await program.until(() => loud() > before + 20);
    await hangsUp(program);
  });

  it("OBS's exchange: audio and video that only go out", async () => {
    const program = await called(process.execPath, 'obs-caller.mjs');
    await asks(() => program.command('say'));
    await hangsUp(program);
  });
});

/** A browser by what both of them do. */
type Evaluate = (expression: string) => Promise<unknown>;

async function callsInPage(
  evaluate: Evaluate,
  name: WhipClientName,
  { isHeard }: { readonly isHeard: boolean },
): Promise<void> {
  await evaluate(`window.whip.call('${name}', '${endpoint()}', '${token}')`);
  if (isHeard) await evaluate('window.whip.louder(0)');
  const before = isHeard ? Number(await evaluate('window.whip.energy()')) : 0;
  await asks(() => evaluate('window.whip.say()'));
  if (isHeard) await evaluate(`window.whip.louder(${before} + 1e-4)`);
  await evaluate('window.whip.hangUp().then(() => null)');
  await hungUp();
}

const inChromium = chromiumMissing ?? clientsMissing;

describe.skipIf(inChromium !== undefined)(`WHIP clients in Chromium ${inChromium ?? ''}`, () => {
  let chromium: ChromiumPage;

  beforeAll(async () => {
    chromium = await openChromium('/dev/null');
  });

  afterAll(() => chromium.close());

  it.each([
    ['@eyevinn/whip-web-client 1.1.7', 'eyevinn', { isHeard: false }],
    ['whip-whep 1.2.0', 'medooze', { isHeard: true }],
  ] as const)('%s: question and answer', async (_, name, client) => {
    await chromium.page.goto(page.url);
    await chromium.page.waitForFunction('window.whip !== undefined');
    await callsInPage((expression) => chromium.page.evaluate(expression), name, client);
  });
});

describe.skipIf(firefoxMissing !== undefined)(`Firefox ${firefoxMissing ?? ''}`, () => {
  it('is greeted, asks, is answered and hangs up', async () => {
    const firefox = await Firefox.open(page.url);
    toClose.push(() => firefox.close());
    await callsInPage((expression) => firefox.evaluate(expression), 'browser', { isHeard: true });
  });
});
