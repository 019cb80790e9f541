/** WebRTC calls (spec 01, WebRTC signaling) against the whole service, by a client that shares no code with it. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { stopAll } from '../../support/process/succession.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';

let service: TestService;
let flite: Flite;
const callers: WeriftCaller[] = [];

beforeAll(async () => {
  flite = await loadFlite();
});

afterEach(async () => {
  for (const caller of callers.splice(0)) await caller.close();
  await stopAll(service);
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ ...options, env: { SVC_WEBRTC_ADDR: '127.0.0.1:0', ...options.env } });
}

const whip = (): string => `http://${service.address('webrtc')}/whip`;

async function call(): Promise<WeriftCaller> {
  const caller = new WeriftCaller();
  callers.push(caller);
  const response = await caller.call(whip());
  expect(response.status).toBe(201);
  await caller.connected();
  return caller;
}

/** Packets with sound in them, and not those of a pause. */
const audible = (caller: WeriftCaller): number =>
  caller.packets.filter(({ payload }) => payload.length > 20).length;

describe('a WebRTC call', () => {
  it('is greeted, understood and answered, and ends when the session URL is deleted', async () => {
    await start({ greeting: 'Hello there.' });
    const caller = await call();
    await caller.until(() => audible(caller) >= 20);
    service.providers.stt.utterances.push('what time is it');
    service.providers.llm.script.push(answer('It is noon.'));
    const voice = flite('What time is it?', { voice: 'slt', speed: 1 });
    await caller.say(voice);
    await caller.say(new Int16Array(32_000));
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    expect(JSON.stringify(service.providers.llm.requests[0]?.body['messages'])).toContain('what time is it');
    const before = audible(caller);
    await caller.until(() => audible(caller) >= before + 20);
    expect((await caller.hangUp()).status).toBe(200);
    expect(await service.says('call ended')).toMatchObject({ end: 'hangup' });
    await service.readyWhen((body) => body['connections'] === 0);
    expect((await caller.hangUp()).status).toBe(404);
  });
});
