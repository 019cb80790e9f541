/**
 * Two whole services behind one balancer, which share a Redis: what an address may do counts for both, and what a carrier or an operator
 * says of a telephone call reaches the one that has it, whichever is asked. Skips where there is no redis-server.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postEvent, postVoice, streamUrlOf } from '../support/fakes/fake-twilio.ts';
import { knock, refusalOf, type KnockAnswer } from '../support/process/knock.ts';
import { hasRedis, TestRedis } from '../support/process/redis.ts';
import { beforeAskingAgain, TestService } from '../support/process/service.ts';
import { FakeTwilioApi } from '../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx } from '../support/telephony/fake-telnyx.ts';

const secret = 'o'.repeat(32);
const greeting = 'Hello there.';
const returnLine = 'Sorry, nobody was free.';
const turn = `
[telephony]
return_line = "${returnLine}"
warm_transfer = true
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;
const callSid = 'CA0001';
const isGone = 'the shared store gives no answer; limits of addresses are those of this host alone';

describe.skipIf(!hasRedis)('two hosts with one Redis (skipped without redis-server)', () => {
  let redis: TestRedis;
  let api: FakeTwilioApi;
  let telnyx: FakeTelnyx;
  let fleet: readonly TestService[] = [];
  const open: KnockAnswer[] = [];

  beforeEach(async () => {
    [redis, api, telnyx] = await Promise.all([
      TestRedis.start('canary-password'),
      new FakeTwilioApi().start(),
      new FakeTelnyx().start(),
    ]);
    const env = {
      ...{ ...carrierEnv, ...api.env, ...telnyx.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
      ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
      ...{ SVC_TOKEN_STORE_URL: redis.url, SVC_WS_MAX_CALLS_PER_IP: '3', SVC_MAX_SESSIONS: '20' },
    };
    const options = { turn, greeting, agent: 'farewell = "Bye."', env };
    fleet = await Promise.all([TestService.start(options), TestService.start(options)]);
  });

  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    await Promise.all(fleet.map((service) => service.stop()));
    await Promise.all([redis.stop(), api.close(), telnyx.close()]);
  });

  const at = (index: number): TestService => fleet[index]!;

  async function call(host: number): Promise<unknown> {
    const reply = await knock(at(host).port, {});
    open.push(reply);
    return reply.status === 101 ? 'call' : refusalOf(reply)[1];
  }

  const ask = (host: number, path: string, method = 'GET', more: RequestInit = {}): Promise<Response> =>
    fetch(`http://${at(host).address('callback')}${path}`, {
      ...{ method, ...more },
      headers: { authorization: `Bearer ${secret}`, ...(more.headers as Record<string, string>) },
    });

  /** The balancer sends what carriers say, and their streams, to this host from now on. */
  function balance(host: number): void {
    api.listener = at(host).address('carrier_a');
    telnyx.listener = at(host).address('carrier_b');
  }

  /** A caller by Twilio who talks with the first host, and is given over. */
  async function givenOver(more: object = {}): Promise<void> {
    balance(0);
    const response = await postVoice(at(0).address('carrier_a'), callSid);
    const stream = new FakeStream(at(0).address('carrier_a'), {
      ...{ callSid, url: streamUrlOf(await response.text()) },
    });
    api.streams.set(callSid, stream);
    await stream.until(() => stream.status !== 0);
    stream.begin();
    await stream.until(() => stream.pieces > 0);
    await given(at(0), (digit) => stream.press(digit), more);
  }

  async function given(host: TestService, press: (digit: string) => void, more: object = {}): Promise<void> {
    const args = { destination: 'billing', ...more };
    host.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
    for (const digit of '1#') press(digit);
    await host.says('call ended');
  }

  /** The caller is on a stream of the second host, and is known there, or not. */
  async function isBack(
    stream: Pick<FakeStream, 'until' | 'pieces' | 'press'> | undefined,
    { knows }: { readonly knows: boolean },
  ): Promise<void> {
    if (stream === undefined) throw new Error('no stream');
    await stream.until(() => stream.pieces > 0);
    const { llm } = at(1).providers;
    llm.script.push(answer('Fine.'));
    for (const digit of '2#') stream.press(digit);
    await llm.until(() => llm.requests.length > 0);
    const messages = JSON.stringify(llm.requests.at(-1)?.body['messages']);
    const said = (text: string): number => messages.split(text).length - 1;
    expect([greeting, 'keys: 1', 'One moment.', returnLine].map(said)).toEqual(
      knows ? [1, 1, 1, 1] : [0, 0, 0, 1],
    );
  }

  it('an address has its calls on both together, and its place again when one has ended', async () => {
    expect([await call(0), await call(1), await call(0)]).toEqual(['call', 'call', 'call']);
    expect([await call(1), await call(0)]).toEqual(['address_full', 'address_full']);
    open[1]?.socket.destroy();
    // The second host gives the place back when it has noticed.
    while ((await call(0)) !== 'call') await beforeAskingAgain();
    expect(await call(1)).toBe('address_full');
  });

  it('without the Redis each host counts for itself, says so once, and telephone calls come in', async () => {
    for (let count = 0; count < 3; count += 1) expect(await call(0)).toBe('call');
    await redis.stop();
    while ((await call(1)) !== 'call') await beforeAskingAgain();
    expect(await call(0)).toBe('address_full');
    await at(1).says(isGone);
    expect(at(1).log.filter(({ msg }) => msg === isGone)).toHaveLength(1);
    for (const { socket } of open.splice(0)) socket.destroy();
    await at(0).readyWhen((body) => body['connections'] === 0);
    await givenOver();
    balance(1);
    // Nobody can say whose the call is: the host that is asked brings the caller back all the same.
    expect(await api.dialled(callSid, 'busy')).toContain('<Connect>');
    await isBack(api.streams.get(callSid), { knows: false });
  });

  it('carrier A: a caller whom nobody took comes back on the other host, with the conversation', async () => {
    await givenOver();
    balance(1);
    expect(await api.dialled(callSid, 'busy')).toContain('<Connect>');
    await isBack(api.streams.get(callSid), { knows: true });
  });

  it('carrier A: the host that gave the caller over has died: the other one has them, and does not greet', async () => {
    await givenOver();
    at(0).signal('SIGKILL');
    await at(0).ended;
    balance(1);
    expect(await api.dialled(callSid, 'busy')).toContain('<Connect>');
    await isBack(api.streams.get(callSid), { knows: false });
  });

  it('carrier B: the leg is told to the other host, and once more to the first: the caller comes back once', async () => {
    balance(0);
    await telnyx.tell('call.initiated', { call_control_id: 'v3:caller', direction: 'incoming' });
    await telnyx.until(() => telnyx.streams.length > 0);
    const stream = telnyx.streams[0]!;
    await stream.until(() => stream.pieces > 0);
    await given(at(0), (digit) => stream.press(digit));
    balance(1);
    const leg = {
      ...{ call_control_id: 'v3:leg', hangup_cause: 'timeout' },
      client_state: telnyx.of('transfer').at(-1)?.fields['target_leg_client_state'],
    };
    const id = 'event-of-the-leg';
    await telnyx.tell('call.hangup', leg, { id });
    await telnyx.until(() => telnyx.streams.length > 1);
    balance(0);
    await telnyx.tell('call.hangup', leg, { id });
    await isBack(telnyx.streams[1], { knows: true });
    expect(telnyx.of('streaming_start')).toHaveLength(2);
    expect(telnyx.of('hangup')).toHaveLength(0);
  });

  it('an operator and the carrier find a warm transfer on either host', async () => {
    await givenOver({ mode: 'warm', summary: 'An invoice.' });
    await at(0).says('a warm transfer has moved', (line) => line['phase'] === 'rung');
    balance(1);
    const { transfers } = (await (await ask(1, '/transfers')).json()) as { transfers: { handle: string }[] };
    const handle = transfers[0]?.handle ?? '';
    expect((await ask(1, `/transfers/${handle}/complete_warm`, 'POST')).status).toBe(409);
    const form = { CallSid: 'CA9001', AccountSid: 'AC1', AnsweredBy: 'human' };
    expect((await postEvent(api.listener, `/carrier_a/events/amd/${handle}`, form)).status).toBe(200);
    expect((await ask(1, `/transfers/${handle}/complete_warm`, 'POST')).status).toBe(202);
    await at(0).says('a warm transfer has moved', (line) => line['phase'] === 'joined');
    expect((await ask(1, '/transfers/no-such/complete_warm', 'POST')).status).toBe(404);
  });

  it('what is said of a warm transfer at another host is lost while the store is gone, and heard when it is back', async () => {
    await givenOver({ mode: 'warm', summary: 'An invoice.' });
    await at(0).says('a warm transfer has moved', (line) => line['phase'] === 'rung');
    const { transfers } = (await (await ask(1, '/transfers')).json()) as { transfers: { handle: string }[] };
    const handle = transfers[0]?.handle ?? '';
    const complete = async (host: number): Promise<number> =>
      (await ask(host, `/transfers/${handle}/complete_warm`, 'POST')).status;
    const answered = (host: number) =>
      postEvent(at(host).address('carrier_a'), `/carrier_a/events/amd/${handle}`, {
        ...{ CallSid: 'CA9001', AccountSid: 'AC1', AnsweredBy: 'human' },
      });

    redis.hang();
    // The carrier has said it, and does not say it again.
    expect((await answered(1)).status).toBe(200);
    expect(await complete(1)).toBe(404);
    // The host that has the transfer knows it all the same: nobody has answered yet.
    expect(await complete(0)).toBe(409);
    redis.goOn();
    while ((await complete(1)) !== 409) await beforeAskingAgain();
    expect((await answered(1)).status).toBe(200);
    expect(await complete(1)).toBe(202);
    await at(0).says('a warm transfer has moved', (line) => line['phase'] === 'joined');
  });

  async function make(host: number, key = 'order-1', to = '+15550100123'): Promise<[number, string]> {
    const body = JSON.stringify({ to, carrier: 'carrier_a' });
    const response = await ask(host, '/calls', 'POST', { body, headers: { 'Idempotency-Key': key } });
    return [response.status, ((await response.json()) as { id: string }).id];
  }

  it('a call with a key is not made while the store is gone, and once when it is back', async () => {
    const made = (): number => api.requests.filter(({ path }) => path === '/Calls.json').length;
    const first = await make(0);
    expect(first[0]).toBe(202);
    redis.hang();
    for (const [host, key] of [
      [0, 'order-1'],
      [1, 'order-1'],
      [0, 'order-2'],
      [1, 'order-2'],
    ] as const)
      expect([host, key, (await make(host, key, '+15550100124'))[0]]).toEqual([host, key, 503]);
    expect(made()).toBe(1);
    redis.goOn();
    let second = await make(1, 'order-2', '+15550100124');
    while (second[0] === 503) {
      await beforeAskingAgain();
      second = await make(1, 'order-2', '+15550100124');
    }
    expect(second[0]).toBe(202);
    expect(await make(0, 'order-2', '+15550100124')).toEqual(second);
    expect(await make(1)).toEqual(first);
    expect(made()).toBe(2);
  });

  it('a call that is asked for twice with one key, at either host, is made once', async () => {
    const first = await make(0);
    expect(first[0]).toBe(202);
    expect(await make(1)).toEqual(first);
    expect(api.requests.filter(({ path }) => path === '/Calls.json')).toHaveLength(1);
    expect((await ask(1, `/calls/${first[1]}`)).status).toBe(200);
    expect((await ask(1, `/calls/${first[1]}/hang_up`, 'POST')).status).toBe(202);
    // Whether the call was made is known to a host that is gone: it is not made again.
    at(0).signal('SIGKILL');
    await at(0).ended;
    expect((await make(1))[0]).toBe(503);
  });
});
