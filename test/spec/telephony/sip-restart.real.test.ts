/** SIP calls while the supervisor is replaced by SIGUSR2: none is lost, and new ones are taken all the while (decision 0069). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorization, Phone } from '../../support/sip/phone.ts';
import { pause, receive, runSipp, send, sippMissing } from '../../support/sip/sipp.ts';
import { TestService } from '../../support/process/service.ts';
import { isAlive, restarted, servingPid, stopAll, stopped } from '../../support/process/succession.ts';
import { selfSigned } from '../../support/self-signed.ts';

const portOf = (service: TestService, name: 'sip' | 'sips'): number =>
  Number(
    String(service.said('listening', (line) => line['listener'] === name)?.['address'])
      .split(':')
      .at(-1),
  );

const folder = mkdtempSync(join(tmpdir(), 'sip-restart-'));
const { key, cert } = selfSigned();
const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
writeFileSync(files.key, key);
writeFileSync(files.cert, cert);

const account = { user: 'alice', password: 's3cret' };

describe('SIP calls during a restart', () => {
  let service: TestService;
  const phones: Phone[] = [];

  beforeAll(async () => {
    service = await TestService.start({
      workers: 2,
      greeting: 'Hello there.',
      env: {
        SVC_SIP_ADDR: '127.0.0.1:0',
        SVC_SIP_TLS_ADDR: '127.0.0.1:0',
        SVC_SIP_TLS_CERT: files.cert,
        SVC_SIP_TLS_KEY: files.key,
        SVC_SIP_RTP_PORTS: '32000-32198',
        SVC_SIP_USER: account.user,
        SVC_SIP_PASSWORD: account.password,
        SVC_DRAIN_TIMEOUT: '600s',
      },
    });
  });
  afterAll(async () => {
    for (const phone of phones) phone.close();
    await stopAll(service);
    rmSync(folder, { recursive: true });
  });

  /** The way a phone signs in with a challenge, which may be of the supervisor before. */
  const proof = (challenge: string, port: number): string =>
    authorization(challenge, { method: 'INVITE', uri: `sip:agent@127.0.0.1:${port}`, ...account });

  const call = async (over: 'UDP' | 'TCP' | 'TLS'): Promise<Phone> => {
    const port = portOf(service, over === 'TLS' ? 'sips' : 'sip');
    const phone = await Phone.open(port, over);
    phones.push(phone);
    const asked = await phone.invite();
    const headers = [proof(asked.header('WWW-Authenticate') ?? '', port)];
    expect((await phone.invite({ headers })).status).toBe(200);
    phone.talk();
    await phone.until(() => phone.heard.length > 10);
    return phone;
  };

  const goesOn = async (phone: Phone): Promise<void> => {
    const from = phone.heard.length;
    await phone.until(() => phone.heard.length > from + 25);
    expect((await phone.ask('OPTIONS')).status).toBe(200);
  };

  it('go on, are held and ended as ever, and the old supervisor ends with the last of them', async () => {
    const calls = [await call('UDP'), await call('TCP'), await call('TLS'), await call('UDP')];
    const port = portOf(service, 'sip');
    const waiting = await Phone.open(port);
    phones.push(waiting);
    const asked = await waiting.invite();
    const [old] = await restarted(service);
    expect(portOf(service, 'sip')).toBe(port);
    for (const phone of calls) await goesOn(phone);
    const [first, second] = calls as [Phone, Phone];
    const held = await first.ask('INVITE', { body: first.sdp({ direction: 'sendonly', version: 2 }) });
    first.acknowledge(held);
    expect(held.body).toContain('a=recvonly');
    const resumed = await first.ask('INVITE', { body: first.sdp({ version: 3 }) });
    first.acknowledge(resumed);
    await goesOn(first);
    // A challenge of the old supervisor is as good as one of the new.
    const headers = [proof(asked.header('WWW-Authenticate') ?? '', port)];
    expect((await waiting.invite({ headers })).status).toBe(200);
    await goesOn(waiting);
    // A connection that is lost meanwhile is made anew, to the new supervisor, and the call of the old one goes on over it.
    await second.reconnect();
    await goesOn(second);
    expect(isAlive(old)).toBe(true);
    for (const phone of calls) expect((await phone.ask('BYE')).status).toBe(200);
    await stopped(service, old);
    await goesOn(waiting);
    expect((await waiting.ask('BYE')).status).toBe(200);
  });

  it('are taken by the new supervisor from a connection of the old one, and outlive that connection', async () => {
    const [anchor, trunk] = [await call('UDP'), await Phone.open(portOf(service, 'sips'), 'TLS')];
    phones.push(trunk);
    expect((await trunk.ask('OPTIONS')).status).toBe(401);
    const [old, fresh] = await restarted(service);
    const asked = await trunk.invite();
    const headers = [proof(asked.header('WWW-Authenticate') ?? '', portOf(service, 'sips'))];
    expect((await trunk.invite({ headers })).status).toBe(200);
    trunk.talk();
    await goesOn(trunk);
    expect((await anchor.ask('BYE')).status).toBe(200);
    await stopped(service, old);
    await trunk.until(() => trunk.isCutOff);
    await trunk.reconnect();
    await goesOn(trunk);
    expect((await trunk.ask('BYE')).status).toBe(200);
    expect(servingPid(service)).toBe(fresh);
  });

  it.skipIf(sippMissing !== undefined)('of sipp go on, none is lost', async () => {
    const sdp = 'v=0\no=sipp 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [local_ip]\nt=0 0\nm=audio 6000 RTP/AVP 0';
    const steps = [
      send('INVITE', { body: sdp }),
      receive(401, { isChallenge: true }),
      send('ACK', { edit: (text) => text.replace('[branch]', '[branch-2]') }),
      send('INVITE', {
        ...{ cseq: 2, body: sdp, headers: ['[authentication]'] },
        edit: (text) => text.replace('[peer_tag_param]', ''),
      }),
      ...[100, 180].map((status) => receive(status, { isOptional: true })),
      receive(200),
      send('ACK', { cseq: 2 }),
      pause(9_000),
      send('INFO', { cseq: 3, body: 'Signal=5\nDuration=160', type: 'application/dtmf-relay' }),
      receive(200),
      send('BYE', { cseq: 4 }),
      receive(200),
    ];
    const isOfSipp = (line: { readonly msg: string }): boolean => line.msg === 'call started';
    const seen = service.log.filter(isOfSipp).length;
    const port = portOf(service, 'sip');
    // Over TCP it is offered SHA-256 as well, which sipp does not know.
    const runs = Array.from({ length: 10 }, () => runSipp(steps, { port, account }));
    await service.until(() => service.log.filter(isOfSipp).length >= seen + runs.length);
    const [old] = await restarted(service);
    expect(await Promise.all(runs)).toEqual(runs.map(() => undefined));
    await stopped(service, old);
  });

  it('are not lost where the new supervisor cannot take over', async () => {
    const phone = await call('UDP');
    const old = servingPid(service);
    process.kill(old, 'SIGUSR2');
    const { successorPid } = await service.says(
      'restart: a new supervisor starts',
      (line) => line['pid'] === old,
    );
    process.kill(Number(successorPid), 'SIGKILL');
    await service.says('restart: given up, this supervisor goes on as before', (line) => line['pid'] === old);
    await goesOn(phone);
    expect((await phone.ask('BYE')).status).toBe(200);
    const next = await call('TCP');
    expect((await next.ask('BYE')).status).toBe(200);
  });
});
