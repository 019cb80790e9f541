/**
 * Calls of Telnyx that are hung up: never one that is back on a newer stream, and always one that was given up before it had a name, or
 * that gets no stream, whether or not the carrier says so.
 */
import { expect, it, vi } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import type { StreamRequest } from '../../../supervisor/telephony/streams.ts';
import { Telephony } from '../../../supervisor/telephony/telephony.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';

async function newTelephony(
  clock = systemClock,
): Promise<{ carrier: FakeTelnyx; telephony: Telephony; lines: string[] }> {
  const carrier = await new FakeTelnyx().start();
  const env = {
    ...{ SVC_AGENT_FILE: 'a.toml', ...carrier.env, SVC_CARRIER_B_CONNECTION_ID: 'c' },
    ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: 'o'.repeat(32) },
    ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
  };
  const read = parseServerSettings(env, { cores: 2 });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const lines: string[] = [];
  const telephony = new Telephony({
    ...{ settings: read.value.settings, clock, wallClock: systemWallClock },
    log: newLog({ role: 'test', level: 'warn', to: { write: (line: string) => void lines.push(line) } }),
    metrics: newSupervisorMetrics(),
    sip: () => undefined,
    agentName: 'desk',
  });
  return { carrier, telephony, lines };
}

const toNobody = { to: '+15550100077', ring_s: 30, language: 'en-US', metadata: {} };
const given = { route: undefined, isClosed: () => false };

const streamOf = (callId: string): StreamRequest =>
  ({ transport: 'carrier_b', signedMetadata: { [carrierKeys.callId]: callId } }) as never;

it('a former stream that is known to be over late hangs nobody up; the last one does', async () => {
  const { carrier, telephony } = await newTelephony();
  const [caller, other] = [streamOf('v3:caller'), streamOf('v3:other')];
  for (const stream of [caller, caller, other]) telephony.greet(stream);
  const hungUp = (): string[] => carrier.of('hangup').map(({ path }) => decodeURIComponent(path));
  telephony.streamOver(caller);
  telephony.streamOver(other);
  await carrier.until(() => hungUp().length > 0);
  expect(hungUp()).toEqual(['/calls/v3:other/actions/hangup']);
  telephony.streamOver(caller);
  await carrier.until(() => hungUp().length > 1);
  expect(hungUp()[1]).toBe('/calls/v3:caller/actions/hangup');
  telephony.close();
  await carrier.close();
});

it('a call whose making got no answer, and that was given up, is hung up when somebody answers; faults are told without words', async () => {
  const { carrier, telephony, lines } = await newTelephony();
  carrier.message = 'not for +15550100077';
  carrier.refusals.set('calls', [{ status: 500, code: '10016' }]);
  const made = await telephony.outbound.make(toNobody, undefined);
  const id = made.ok ? made.value.id : '';
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { asked: 'calls', status: 500, code: '10016', msg: 'a carrier refused a command or did not answer' },
  ]);
  expect(lines.join('')).not.toContain('0100077');
  telephony.outbound.hangUp(id);
  const client_state = Buffer.from(`svc:out:${id}`).toString('base64');
  const payload = { call_control_id: 'v3:late', client_state, result: 'human' };
  telephony.telnyxTold({ type: 'call.machine.detection.ended', id: 'e', payload }, given);
  await carrier.until(() => carrier.of('hangup').length > 0);
  expect(carrier.of('hangup')[0]?.path).toBe('/calls/v3%3Alate/actions/hangup');
  expect(carrier.of('streaming_start')).toEqual([]);
  telephony.close();
  await carrier.close();
});

it('a stream of a call that was made is told so, and what the call has otherwise, whatever it brings; no other is', async () => {
  const { carrier, telephony } = await newTelephony();
  const made = await telephony.outbound.make(
    { ...toNobody, overrides: { 'agent.greeting': 'Hi.' } },
    undefined,
  );
  const id = made.ok ? made.value.id : '';
  const client_state = Buffer.from(`svc:out:${id}`).toString('base64');
  const payload = { call_control_id: 'v3:leg', client_state, result: 'human' };
  telephony.telnyxTold({ type: 'call.machine.detection.ended', id: 'e', payload }, given);
  const signed = { 'session.direction': 'outbound', 'session.overrides': '{"agent.greeting":"Hi."}' };
  expect(telephony.greet(streamOf('v3:leg')).signedMetadata).toMatchObject(signed);
  expect(Object.keys(telephony.greet(streamOf('v3:other')).signedMetadata)).toEqual([carrierKeys.callId]);
  telephony.close();
  await carrier.close();
});

it.each([
  ['cannot open has failed', false, 'failed'],
  ['loses has talked', true, 'talked'],
])('a call that was made, and whose stream the carrier %s; the log says why', async (_, isHere, end) => {
  const { carrier, telephony, lines } = await newTelephony();
  const made = await telephony.outbound.make(toNobody, undefined);
  const id = made.ok ? made.value.id : '';
  const client_state = Buffer.from(`svc:out:${id}`).toString('base64');
  const tell = (type: string, more: object): void => {
    const payload = { call_control_id: 'v3:leg', client_state, ...more };
    telephony.telnyxTold({ type, id: type, payload }, given);
  };
  tell('call.machine.detection.ended', { result: 'human' });
  if (isHere) telephony.greet(streamOf('v3:leg'));
  tell('streaming.failed', { failure_reason: 'connection_failed' });
  await carrier.until(() => carrier.of('hangup').length > 0);
  tell('call.hangup', { hangup_cause: 'normal_clearing' });
  expect(telephony.outbound.view(id)).toMatchObject({ phase: 'over', end });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { call: 'v3:leg', reason: 'connection_failed', msg: 'the carrier could not open the stream of a call' },
  ]);
  telephony.close();
  await carrier.close();
});

it.each([
  ['hears that it is busy', '90015', ['answer', 'reject']],
  ['is left alone where the call is over', '90018', ['answer']],
])('a caller whom the carrier does not let be answered %s', async (_, code, asked) => {
  const { carrier, telephony } = await newTelephony();
  carrier.refusals.set('answer', [{ status: 422, code }]);
  const payload = { call_control_id: 'v3:caller', direction: 'incoming' };
  telephony.telnyxTold({ type: 'call.initiated', id: 'e', payload }, given);
  await vi.waitFor(() => expect(carrier.commands.length).toBeGreaterThan(0));
  await vi.waitFor(() => expect(telephony.isBusy).toBe(false));
  expect(carrier.commands.map(({ action }) => action)).toEqual(asked);
  telephony.close();
  await carrier.close();
});

it.each([
  ['that came in', 'svc:in:', 'call.answered'],
  ['that was made', 'svc:out:', 'call.machine.detection.ended'],
])(
  'a call %s talks on when its stream is here and the answer to the request for it is lost',
  async (_, mark, type) => {
    const clock = newVirtualClock();
    const { carrier, telephony } = await newTelephony(clock);
    const made = await telephony.outbound.make(toNobody, undefined);
    carrier.refusals.set('streaming_start', [{ status: 503, code: '10016' }]);
    carrier.before = () => {
      telephony.greet(streamOf('v3:leg'));
      // Too late to ask again.
      clock.advance(20_000);
      return Promise.resolve();
    };
    const state = mark + (mark === 'svc:out:' && made.ok ? made.value.id : '');
    const payload = { call_control_id: 'v3:leg', client_state: Buffer.from(state).toString('base64') };
    telephony.telnyxTold({ type, id: 'e', payload: { ...payload, result: 'human' } }, given);
    await vi.waitFor(() => expect(telephony.isBusy || telephony.outbound.isBusy).toBe(false));
    expect(carrier.commands.map(({ action }) => action)).toEqual(['calls', 'streaming_start']);
    telephony.close();
    await carrier.close();
  },
);

it.each([
  ['is hung up where the carrier says nothing of it, and the log says why', undefined, ['hangup']],
  ['is left alone where the stream is here', 'stream', []],
  ['is left alone where it is over', 'call.hangup', []],
  ['is left alone where the stream is at another host', 'host', []],
  ['is left alone where another process has it', 'process', []],
])('a call whose stream was asked for and is not opened %s', async (_, meanwhile, asked) => {
  const clock = newVirtualClock();
  const { carrier, telephony, lines } = await newTelephony(clock);
  const call = { call_control_id: 'v3:caller' };
  const payload = { ...call, client_state: Buffer.from('svc:in:').toString('base64') };
  carrier.listener = '127.0.0.1:9';
  telephony.telnyxTold({ type: 'call.answered', id: 'e', payload }, given);
  await vi.waitFor(() => expect(telephony.isBusy).toBe(false));
  if (meanwhile === 'stream') telephony.greet(streamOf('v3:caller'));
  if (meanwhile === 'call.hangup') telephony.telnyxTold({ type: meanwhile, id: 'f', payload }, given);
  if (meanwhile === 'host') telephony.goesElsewhere('v3:caller');
  if (meanwhile === 'process') telephony.leave();
  clock.advance(20_000);
  await vi.waitFor(() => expect(telephony.isBusy).toBe(false));
  expect(carrier.commands.map(({ action }) => action)).toEqual(['streaming_start', ...asked]);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
    asked.map(() => ({ call: 'v3:caller', reason: 'not_opened' })),
  );
  telephony.close();
  await carrier.close();
});
