/** SIP calls on the running service: a telephone of our own, real sockets, real workers (docs/sip.md). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../support/fakes/fake-chat.ts';
import { authorization, Phone } from '../../support/sip/phone.ts';
import { TestService } from '../../support/process/service.ts';

const sipPort = (service: TestService): number =>
  Number(
    String(service.said('listening', (line) => line['listener'] === 'sip')?.['address'])
      .split(':')
      .at(-1),
  );

const env = { SVC_SIP_ADDR: '127.0.0.1:0', SVC_SIP_RTP_PORTS: '31000-31998' };

describe('a SIP call', () => {
  let service: TestService;
  let phone: Phone;

  beforeAll(async () => {
    service = await TestService.start({
      workers: 2,
      greeting: 'Hello there.',
      env: { ...env, SVC_SPARE_WORKER: 'on', SVC_REDACT_PHONE_NUMBERS: 'off' },
    });
  });
  afterAll(async () => {
    await service.stop();
  });

  const call = async (): Promise<Phone> => {
    phone = await Phone.open(sipPort(service));
    const reply = await phone.invite();
    expect(reply.status).toBe(200);
    return phone;
  };

  it('is answered with one codec and keys, and the greeting is heard', async () => {
    await call();
    const answer = phone.replies.find(({ status }) => status === 200)!;
    expect(answer.body).toMatch(/m=audio \d+ RTP\/AVP 0 101\r\n/);
    phone.talk();
    await phone.until(() => phone.sound().some((sample) => Math.abs(sample) > 500));
    expect((await phone.ask('BYE')).status).toBe(200);
    await service.says('call ended', (line) => line['end'] === 'hangup');
    phone.close();
  });

  it('is told who calls', async () => {
    await call();
    const started = await service.says('call started', (line) => line['call'] === phone.callId);
    expect(started['metadata']).toContain('session.from');
    await phone.ask('BYE');
    phone.close();
  });

  it('goes on when its worker is killed: audio flows again, and the dialog is there', async () => {
    await call();
    phone.talk();
    await phone.until(() => phone.heard.length > 50);
    const started = await service.says('call started', (line) => line['call'] === phone.callId);
    process.kill(Number(started['pid']), 'SIGKILL');
    await service.says('call taken up', (line) => line['call'] === phone.callId);
    const from = phone.heard.length;
    await phone.until(() => phone.heard.length > from + 50);
    expect((await phone.ask('OPTIONS')).status).toBe(200);
    expect((await phone.ask('BYE')).status).toBe(200);
    phone.close();
  });

  it('goes on as Opus when its worker is killed, and keeps to it', async () => {
    phone = await Phone.open(sipPort(service));
    const opus = { codecs: '107 0', more: ['a=rtpmap:107 opus/48000/2'] };
    const reply = await phone.invite({ body: phone.sdp(opus) });
    expect(reply.body).toContain('a=rtpmap:107 opus/48000/2');
    phone.talk();
    const sounds = (): number => phone.heard.filter(({ type }) => type === 107).length;
    await phone.until(() => sounds() > 50);
    const started = await service.says('call started', (line) => line['call'] === phone.callId);
    process.kill(Number(started['pid']), 'SIGKILL');
    await service.says('call taken up', (line) => line['call'] === phone.callId);
    const from = sounds();
    await phone.until(() => sounds() > from + 50);
    expect((await phone.ask('UPDATE', { body: phone.sdp({ version: 2 }) })).status).toBe(488);
    expect((await phone.ask('UPDATE', { body: phone.sdp({ ...opus, version: 3 }) })).status).toBe(200);
    expect(phone.heard.every(({ type }) => type === 107)).toBe(true);
    expect((await phone.ask('BYE')).status).toBe(200);
    phone.close();
  });

  it('is held and taken back by re-INVITE', async () => {
    await call();
    phone.talk();
    await phone.until(() => phone.heard.length > 10);
    const held = await phone.ask('INVITE', { body: phone.sdp({ direction: 'sendonly', version: 2 }) });
    phone.acknowledge(held);
    expect(held.body).toContain('a=recvonly');
    const resumed = await phone.ask('INVITE', { body: phone.sdp({ version: 3 }) });
    phone.acknowledge(resumed);
    expect(resumed.body).toContain('a=sendrecv');
    const from = phone.heard.length;
    await phone.until(() => phone.heard.length > from + 10);
    await phone.ask('BYE');
    phone.close();
  });
});

describe('a listener at all addresses of both families', () => {
  it('is heard over IPv4, also by a peer that says nothing itself', async () => {
    const service = await TestService.start({
      env: { ...env, SVC_SIP_ADDR: '[::]:0', SVC_SIP_ALLOW: '127.0.0.0/8' },
    });
    const phone = await Phone.open(sipPort(service));
    expect((await phone.invite()).status).toBe(200);
    await phone.until(() => phone.heard.length > 10);
    await phone.ask('BYE');
    phone.close();
    await service.stop();
  });
});

describe('keys of the agent', () => {
  it('reach the peer as events, and the model is told that they were sent', async () => {
    const service = await TestService.start({ env });
    const phone = await Phone.open(sipPort(service));
    expect((await phone.invite()).status).toBe(200);
    phone.talk();
    const { llm } = service.providers;
    llm.script.push(sayAndCall('', 'send_dtmf', { digits: '1w#' }), answer('Done.'));
    for (const key of '7#') {
      const info = { type: 'application/dtmf-relay', body: `Signal=${key}\r\nDuration=160\r\n` };
      expect((await phone.ask('INFO', info)).status).toBe(200);
    }
    await llm.until(() => llm.requests.length > 1);
    expect(JSON.stringify(llm.requests[1]?.body['messages'])).toContain('sent');
    const ends = (): number[] =>
      phone.heard.flatMap(({ type, payload }) =>
        type === 101 && (payload[1] ?? 0) >= 128 ? [payload[0] ?? -1] : [],
      );
    await phone.until(() => ends().length === 6);
    expect(ends()).toEqual([1, 1, 1, 11, 11, 11]);
    await phone.ask('BYE');
    phone.close();
    await service.stop();
  });
});

describe('a service that is full', () => {
  it('refuses a call before it is answered, and says when to try again', async () => {
    const service = await TestService.start({ env: { ...env, SVC_MAX_SESSIONS: '1' } });
    const [first, second] = [await Phone.open(sipPort(service)), await Phone.open(sipPort(service))];
    expect((await first.invite()).status).toBe(200);
    const refused = await second.invite();
    expect(refused.status).toBe(503);
    expect(Number(refused.header('Retry-After'))).toBeGreaterThan(0);
    await first.ask('BYE');
    for (const phone of [first, second]) phone.close();
    await service.stop();
  });
});

describe('signing in', () => {
  it('is asked of everybody, and a right password is let in', async () => {
    const service = await TestService.start({
      env: { ...env, SVC_SIP_USER: 'alice', SVC_SIP_PASSWORD: 's3cret' },
    });
    const phone = await Phone.open(sipPort(service));
    const asked = await phone.invite();
    expect(asked.status).toBe(401);
    const uri = `sip:agent@127.0.0.1:${sipPort(service)}`;
    const proof = authorization(asked.header('WWW-Authenticate') ?? '', {
      ...{ method: 'INVITE', uri, user: 'alice', password: 's3cret' },
    });
    expect((await phone.invite({ headers: [proof] })).status).toBe(200);
    await phone.ask('BYE');
    phone.close();
    const stranger = await Phone.open(sipPort(service));
    const wrong = authorization(asked.header('WWW-Authenticate') ?? '', {
      ...{ method: 'INVITE', uri, user: 'alice', password: 'wrong' },
    });
    expect((await stranger.invite({ headers: [wrong] })).status).toBe(401);
    expect((await stranger.invite({ headers: [wrong] })).status).toBe(401);
    stranger.close();
    await service.says('a SIP peer was refused', (line) => String(line['why']).includes('SVC_SIP_PASSWORD'));
    // Nobody who was only asked for a password, and everybody once.
    expect(service.log.filter(({ msg }) => msg === 'a SIP peer was refused')).toHaveLength(1);
    await service.stop();
  });

  it('is asked in requests of any size, and each cause of a refusal is told once', async () => {
    const service = await TestService.start({
      env: { ...env, SVC_SIP_USER: 'alice', SVC_SIP_PASSWORD: 's3cret' },
    });
    const phone = await Phone.open(sipPort(service));
    for (const method of ['OPTIONS', 'REGISTER', 'MESSAGE'])
      expect((await phone.ask(method)).status, method).toBe(401);
    const asked = await phone.invite({ body: '' });
    expect([asked.status, asked.header('WWW-Authenticate')]).toEqual([
      401,
      expect.stringContaining('nonce='),
    ]);
    for (let i = 0; i < 2; i += 1) expect((await phone.ask('CANCEL')).status).toBe(481);
    await service.says('a SIP request was refused', (line) => line['status'] === 481);
    expect(service.log.filter(({ msg }) => msg === 'a SIP request was refused')).toHaveLength(1);
    phone.close();
    await service.stop();
  });
});
