/** A sound behind the voice, in calls of a running service: it is heard while the agent is silent, and the conversation goes on as ever. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { newResampler } from '../../shared/audio/resampler.ts';
import { rmsDbfs } from '../../shared/audio/pcm.ts';
import type { CallEncoding } from '../../cli/commands/call/call-wire.ts';
import type { CallerEvent } from '../../cli/commands/call/caller.ts';
import { decodeMulaw } from '../../shared/audio/g711.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../support/fakes/fake-twilio.ts';
import { TestService } from '../support/process/service.ts';
import { Phone } from '../support/sip/phone.ts';

let service: TestService;
let question: Int16Array;

const forms: [number, CallEncoding][] = [
  [16_000, 'pcm16'],
  [24_000, 'pcm16'],
  [8_000, 'mulaw'],
];

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  const turn = '[audio.background]\nsound = "street"\nvolume = 0.5';
  const env = {
    ...carrierEnv,
    SVC_WS_ADDR: '127.0.0.1:0',
    SVC_SIP_ADDR: '127.0.0.1:0',
    SVC_SIP_RTP_PORTS: '31000-31998',
  };
  service = await TestService.start({ greeting: 'Hello there.', turn, env });
  service.providers.llm.script.push(...forms.map(() => answer('It is noon.')));
});

afterAll(() => service.stop());

function sipPort(): number {
  const line = service.said('listening', ({ listener }) => listener === 'sip');
  return Number(String(line?.['address']).split(':').at(-1));
}

/** The agent is silent: what was played last is the street alone. */
function expectStreet(behind: Int16Array): void {
  expect(rmsDbfs(behind)).toBeGreaterThan(-45);
  expect(rmsDbfs(behind)).toBeLessThan(-20);
}

/** The last half second that a telephone got, in mu-law at 8 kHz. */
function lastOf(frames: readonly Uint8Array[]): Int16Array {
  const bytes = Buffer.concat(frames.slice(-25));
  const pcm = new Int16Array(bytes.length);
  decodeMulaw(bytes, pcm);
  return pcm;
}

it.each(forms)('at %i Hz in %s is there before, between and behind words', async (sampleRate, encoding) => {
  const events: CallerEvent[] = [];
  const call = await service.call({ sampleRate, encoding }, (event) => events.push(event));
  const isPlayed = (event: CallerEvent): boolean => event.type === 'mark-played';
  const frames = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await call.next(({ type }) => type === 'audio');
  };
  await call.next(isPlayed);
  await frames(60);
  expectStreet(call.heard().slice(-sampleRate / 2));
  service.providers.stt.utterances.push('what time is it');
  const resampler = newResampler({ from: 16_000, to: sampleRate });
  void call.say(resampler.process(question).slice());
  await call.next(isPlayed);
  await frames(25);
  await call.hangUp();
  expect(new Set(events.flatMap((event) => (event.type === 'audio' ? [event.durationMs] : [])))).toEqual(
    new Set([20]),
  );
  expect(events.filter((event) => event.type === 'error' || event.type === 'fault')).toEqual([]);
  const said = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
  expect(said).toContain('Hello there.');
  expect(said).toContain('what time is it');
});

it('is heard by a telephone of carrier A', async () => {
  const address = service.address('carrier_a');
  const url = streamUrlOf(await (await postVoice(address, 'CA0001')).text());
  const stream = new FakeStream(address, { callSid: 'CA0001', url });
  await stream.until(() => stream.status === 101);
  stream.begin();
  await stream.until(() => stream.pieces > 0);
  const greeted = stream.of('media').length;
  await stream.until(() => stream.of('media').length > greeted + 100);
  await stream.until(() => stream.handset.played.length > greeted + 60);
  expectStreet(lastOf(stream.handset.played));
  stream.close();
});

it('is heard by a telephone over SIP', async () => {
  const phone = await Phone.open(sipPort());
  expect((await phone.invite()).status).toBe(200);
  phone.talk();
  // The greeting takes a second.
  await phone.until(() => phone.heard.length > 150);
  expectStreet(lastOf(phone.heard.map(({ payload }) => payload)));
  expect((await phone.ask('BYE')).status).toBe(200);
  phone.close();
});
