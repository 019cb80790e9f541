/** The records of calls that an agent process, a flow, providers, carriers and errors end, and of those that are refused behind the answer. */
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { toolCall } from '../../support/fakes/fake-chat.ts';
import { reply } from '../../support/fakes/fake-http.ts';
import {
  carrierEnv,
  FakeStream,
  postEvent,
  postVoice,
  streamUrlOf,
} from '../../support/fakes/fake-twilio.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { Providers, TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { accepting, RawAgent } from '../../support/raw-agent.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { RawCaller, startFrame, textFrame } from '../raw-caller.ts';

const kept = new KeptRecords();
let service: TestService;
const close: (() => unknown)[] = [];

const start = async (options: TestServiceOptions = {}): Promise<TestService> =>
  (service = await TestService.start({
    workers: 2,
    greeting: 'Hello.',
    ...options,
    env: { ...kept.env, ...options.env },
  }));

afterEach(async () => {
  for (const one of close.splice(0)) await one();
  if (!service.isOver) await service.stop();
});
afterAll(() => kept.remove());

const endOf = async (callId: string): Promise<unknown> => (await kept.of(callId)).end;

const heard = async (call: CallClient): Promise<void> => {
  await call.next(({ type }) => type === 'mark-played');
};

/** Sends one message behind its `start` and is closed. */
async function rawCall(id: string, metadata: Readonly<Record<string, string>> = {}): Promise<RawCaller> {
  const caller = new RawCaller(service.port);
  await caller.until(() => caller.status === 101);
  caller.send(textFrame({ type: 'start', version: 1, sample_rate: 16_000, call_id: id, metadata }));
  return caller;
}

async function agentProcess(): Promise<RawAgent> {
  const agent = await RawAgent.start(accepting());
  close.push(() => agent.close());
  return agent;
}

describe('a call', () => {
  it('that its agent process ends, and one that names a route which nothing signed leads to', async () => {
    const agent = await agentProcess();
    const route = `[[agent_link.routes]]\nname = "acme"\nurl = "${agent.url}"\nsigned = true`;
    await start({ turn: `[agent_link]\nurl = "${agent.url}"\n${route}` });
    const call = await service.call({ callId: 'ended-by-process' });
    await heard(call);
    (await agent.session(0)).send({ type: 'end', immediate: true });
    await call.closed;
    expect(await endOf('ended-by-process')).toEqual({ code: 'agent_ended', by: 'agent', detail: 'process' });
    await (await rawCall('unsigned', { agent_route: 'acme' })).closed();
    expect(await endOf('unsigned')).toEqual({ code: 'refused', by: 'service', detail: 'unsigned_route' });
  });

  it('that breaks the protocol, and one in which an error is thrown', async () => {
    const plant = new URL('../../support/process/chaos-plant.mjs', import.meta.url).href;
    await start({ greeting: 'Hello there. '.repeat(40), env: { NODE_OPTIONS: `--import ${plant}` } });
    const broken = await rawCall('broken');
    await broken.received('started');
    broken.send(startFrame());
    await broken.closed();
    expect(await endOf('broken')).toEqual({ code: 'protocol_error', by: 'service' });
    const planted = await service.call({ callId: 'plant:socket:throw' });
    await planted.next(({ type }) => type === 'audio');
    planted.sendDtmf('D');
    await planted.closed;
    expect(await endOf('plant:socket:throw')).toEqual({ code: 'fault', by: 'service' });
  });

  it('whose LLM fails again and again', async () => {
    await start({ agent: '[agent.outage]\nkeep_s = 0' });
    const call = await service.call();
    await heard(call);
    for (let n = 0; n < 40; n += 1) service.providers.llm.script.push(reply({ status: 500 }));
    let isOver = false;
    void call.closed.then(() => (isOver = true));
    while (!isOver) {
      call.sendText('What time is it?');
      await Promise.race([call.closed, heard(call)]);
    }
    const { end, faults } = await kept.of(call.callId);
    expect(end).toEqual({ code: 'providers_failed', by: 'service' });
    expect(faults.length).toBeGreaterThan(2);
  });

  it('that names an agent which is not there, or hangs up before its agent is equipped', async () => {
    const folder = new AgentFolder();
    close.push(() => folder.close());
    const providers = await new Providers().start();
    await folder.put({ id: 'clinic/desk', more: '[routing]\nopen = true' }, providers);
    await start({
      providers,
      agentText: await folder.textOf({ id: 'own' }, providers),
      env: { SVC_AGENTS_DIR: folder.dir, SVC_AGENT_UNKNOWN: 'refuse' },
    });
    await (await rawCall('stranger', { agent: 'clinic/nobody' })).closed();
    expect(await kept.of('stranger')).toMatchObject({
      agent: { name: 'clinic/nobody' },
      end: { code: 'refused', by: 'service', detail: 'unknown_agent' },
    });
    const early = await rawCall('early', { agent: 'clinic/desk' });
    early.send(textFrame({ type: 'stop' }));
    await early.closed();
    expect(await kept.of('early')).toMatchObject({
      agent: { name: 'clinic/desk' },
      end: { code: 'caller_hung_up', by: 'caller' },
    });
    const call = await service.call({ metadata: { agent: 'clinic/desk' } });
    await call.next(({ type }) => type === 'audio');
    await call.hangUp();
    expect(await kept.of(call.callId)).toMatchObject({ agent: { name: 'clinic/desk' }, tenant: 'clinic' });
  });

  it('that is refused because the server before calls does not answer', async () => {
    await start({
      turn: '[before_call]\nurl = "http://127.0.0.1:9"\ntimeout_ms = 500\non_failure = "refuse"\nallow_private = true',
    });
    await (await rawCall('not-looked-up')).closed();
    expect(await endOf('not-looked-up')).toEqual({ code: 'refused', by: 'service', detail: 'server_busy' });
  });

  it('all of whose workers are killed, again and again: goes on or is lost, with one record', async () => {
    await start({ workers: 2, env: { SVC_SPARE_WORKER: 'on' } });
    const call = await service.call();
    await heard(call);
    for (let round = 0; round < 2; round += 1) {
      const before = service.children('worker');
      for (const pid of before) process.kill(pid, 'SIGKILL');
      await service.until(() => service.children('worker').some((pid) => !before.includes(pid)));
    }
    await Promise.race([
      call.closed,
      service.says('call taken up', (line) => line['call'] === call.callId).then(() => call.hangUp()),
    ]);
    const { end, takeovers } = await kept.of(call.callId);
    expect(['caller_hung_up', 'connection_lost', 'worker_lost']).toContain(end.code);
    if (end.code !== 'worker_lost') expect(takeovers.length).toBeGreaterThan(0);
  });
});

describe('two services with one file', () => {
  it('that make it at the same moment keep their records in it', async () => {
    const one = new KeptRecords();
    const launch = (host: number): Promise<TestService> =>
      TestService.start({
        greeting: 'Hello.',
        env: { ...one.env, SVC_STATE_DIR: join(one.folder, String(host)) },
      });
    const [first, second] = await Promise.all([launch(1), launch(2)]);
    service = first;
    close.push(() => second.stop());
    close.push(() => one.remove());
    for (const host of [first, second]) {
      const call = await host.call();
      await heard(call);
      await call.hangUp();
      expect((await one.of(call.callId)).end.code).toBe('caller_hung_up');
    }
    for (const { log } of [first, second])
      expect(log.filter(({ role, level }) => role === 'records' && Number(level) >= 40)).toEqual([]);
  });
});

describe('a telephone call', () => {
  let api: FakeTwilioApi;
  const secret = 'o'.repeat(32);

  async function startWithCarrier(): Promise<void> {
    api = await new FakeTwilioApi().start();
    close.push(() => api.close());
    await start({
      turn: '[telephony]\n[telephony.destinations]\nbilling = "+15550100077"',
      env: {
        ...{ ...carrierEnv, ...api.env, SVC_REDACT_PHONE_NUMBERS: '0' },
        ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
        ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
      },
    });
    api.listener = service.address('carrier_a');
  }

  async function streamOf(callSid: string, twiml: string): Promise<FakeStream> {
    const stream = new FakeStream(service.address('carrier_a'), { callSid, url: streamUrlOf(twiml) });
    close.push(() => stream.close());
    api.streams.set(callSid, stream);
    await stream.until(() => stream.status !== 0);
    stream.begin();
    return stream;
  }

  const inbound = async (callSid: string): Promise<FakeStream> =>
    await streamOf(callSid, await (await postVoice(service.address('carrier_a'), callSid)).text());

  async function outbound(more: object = {}): Promise<{ readonly id: string; readonly call: string }> {
    const response = await fetch(`http://${service.address('callback')}/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ to: '+15550100055', carrier: 'carrier_a', ...more }),
    });
    return (await response.json()) as { id: string; call: string };
  }

  const answered = async ({ id, call }: { id: string; call: string }, by: string): Promise<string> =>
    await (
      await postEvent(service.address('carrier_a'), `/carrier_a/events/answered/${id}`, {
        ...{ CallSid: call, AnsweredBy: by, From: '+15550100002', To: '+15550100055' },
      })
    ).text();

  it('that is transferred, or hung up, or has another stream', async () => {
    await startWithCarrier();
    const moved = await inbound('CA1');
    const transfer = { destination: 'billing', summary: 'an invoice' };
    service.providers.llm.script.push(toolCall('transfer_call', transfer));
    for (const digit of '1#') moved.press(digit);
    const record = await kept.of('CA1');
    expect(record).toMatchObject({
      transport: 'carrier_a',
      direction: 'inbound',
      carrier_call_id: 'CA1',
      end: { code: 'transferred', by: 'agent' },
      transfers: [{ mode: 'cold', destination: 'billing', outcome: 'ok' }],
    });
    expect(record.dtmf.reduce((sum, { keys }) => sum + keys, 0)).toBe(2);
    expect(record.usage.by_stage.telephone?.seconds).toBeGreaterThan(0);
    expect(JSON.stringify(record)).not.toContain('5550100077');
    const left = await inbound('CA2');
    await left.until(() => left.pieces > 0);
    left.stop();
    expect(await endOf('CA2')).toEqual({ code: 'caller_hung_up', by: 'caller' });
  });

  it('that the service makes: has the word of the carrier, or of the worker that had it', async () => {
    await startWithCarrier();
    const busy = await outbound();
    await postEvent(service.address('carrier_a'), `/carrier_a/events/call/${busy.id}`, {
      ...{ CallSid: busy.call, CallStatus: 'busy' },
    });
    expect(await kept.of(busy.call)).toMatchObject({
      ...{ direction: 'outbound', session_id: busy.id, to: '+15550100055', from: '+15550100002' },
      end: { code: 'not_connected', by: 'carrier', detail: 'busy' },
    });
    const machine = await outbound();
    await answered(machine, 'machine_end_beep');
    expect(await endOf(machine.call)).toEqual({ code: 'voicemail', by: 'service' });
    const message = await outbound({ voicemail: 'Call us.' });
    await answered(message, 'machine_end_beep');
    await postEvent(service.address('carrier_a'), `/carrier_a/events/call/${message.id}`, {
      ...{ CallSid: message.call, CallStatus: 'completed' },
    });
    expect(await endOf(message.call)).toEqual({ code: 'voicemail', by: 'service', detail: 'message_left' });
    const person = await outbound({ metadata: { name: 'Bo' } });
    const stream = await streamOf(person.call, await answered(person, 'human'));
    await stream.until(() => stream.pieces > 0);
    stream.stop();
    expect(await kept.of(person.call)).toMatchObject({
      direction: 'outbound',
      end: { code: 'caller_hung_up', by: 'caller' },
    });
  });
});
