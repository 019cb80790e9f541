/** One account at a registrar (decision 0070): calls come from there and from nobody else, through a restart, until the service stops. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from '../../support/process/service.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { restarted, servingPid, stopAll, stopped } from '../../support/process/succession.ts';
import { Phone } from '../../support/sip/phone.ts';
import { FakeRegistrar } from '../../support/sip/registrar.ts';

const sdp =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 6000 RTP/AVP 0\r\n';

/** As an operator stops it: a second signal ends it without a farewell. */
async function stoppedByOneSignal(service: TestService): Promise<void> {
  const pid = servingPid(service);
  process.kill(pid, 'SIGTERM');
  await stopped(service, pid);
}

describe('an account at a registrar', () => {
  let registrar: FakeRegistrar;
  let service: TestService;

  beforeAll(async () => {
    registrar = await FakeRegistrar.open('s3cret');
    service = await TestService.start({
      env: {
        SVC_SIP_ADDR: '127.0.0.1:0',
        SVC_SIP_RTP_PORTS: '33000-33198',
        SVC_SIP_REGISTER: `sip:agent@127.0.0.1:${registrar.port}`,
        SVC_SIP_REGISTER_USER: 'agent-7',
        SVC_SIP_REGISTER_PASSWORD: 's3cret',
      },
    });
  });
  afterAll(async () => {
    await stopAll(service);
    registrar.close();
  });

  it('is signed in with a password, and calls come in without one', async () => {
    await registrar.until(() => registrar.contact !== undefined);
    expect(registrar.asked[1]?.header('Authorization')).toContain('username="agent-7"');
    await service.says('registered at a SIP registrar');
    expect((await registrar.call(sdp)).status).toBe(200);
    const metrics = await (await fetch(`http://${service.address('health')}/metrics`)).text();
    expect(metrics).toMatch(/^svc_sip_registered(\{[^}]*\})? 1$/m);
  });

  it('is taken over in a restart, at the same place', async () => {
    const before = registrar.contact;
    const asked = registrar.asked.length;
    const [old] = await restarted(service);
    await stopped(service, old);
    await registrar.until(() => registrar.asked.length >= asked + 2);
    expect(registrar.contact).toBe(before);
    expect(registrar.asked.every((one) => one.header('Expires') !== '0')).toBe(true);
    expect((await registrar.call(sdp)).status).toBe(200);
  });

  it('signs what the service says in a call of its PBX, and is taken back when the service stops', async () => {
    const address = service.said('listening', (line) => line['listener'] === 'sip')?.['address'];
    const phone = await Phone.open(Number(String(address).split(':').at(-1)));
    phone.wantsProof = true;
    expect((await phone.invite()).status).toBe(200);
    await service.says('call started', (line) => line['call'] === phone.callId);
    await stoppedByOneSignal(service);
    expect(phone.requests.length).toBe(2);
    expect(phone.requests[1]).toMatch(/^BYE [^]*^Authorization: Digest username="agent-7", realm="pbx"/m);
    phone.close();
    expect(registrar.asked.at(-1)?.header('Expires')).toBe('0');
    expect(registrar.contact).toBeUndefined();
  });
});

describe.each(['TCP', 'TLS'] as const)('an account at a registrar over %s', (protocol) => {
  it('is signed in, called over the connection that it made, through a restart, and taken back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sip-registrar-'));
    const certificate = selfSigned();
    const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
    writeFileSync(files.key, certificate.key);
    writeFileSync(files.cert, certificate.cert);
    const registrar = await FakeRegistrar.open('s3cret', protocol, certificate);
    const listens = {
      TCP: { SVC_SIP_ADDR: '127.0.0.1:0' },
      TLS: {
        SVC_SIP_TLS_ADDR: '127.0.0.1:0',
        ...{ SVC_SIP_TLS_CERT: files.cert, SVC_SIP_TLS_KEY: files.key, NODE_EXTRA_CA_CERTS: files.cert },
      },
    };
    const service = await TestService.start({
      env: {
        ...listens[protocol],
        SVC_SIP_RTP_PORTS: '33200-33398',
        SVC_SIP_REGISTER: `sip:agent@127.0.0.1:${registrar.port};transport=${protocol.toLowerCase()}`,
        SVC_SIP_REGISTER_PASSWORD: 's3cret',
      },
    });
    try {
      await registrar.until(() => registrar.contact !== undefined);
      expect(registrar.contact).toContain(`transport=${protocol.toLowerCase()}`);
      expect((await registrar.call(sdp)).status).toBe(200);
      const asked = registrar.asked.length;
      const [old] = await restarted(service);
      await stopped(service, old);
      await registrar.until(() => registrar.asked.length >= asked + 2);
      expect((await registrar.call(sdp)).status).toBe(200);
      await stoppedByOneSignal(service);
      expect(registrar.contact).toBeUndefined();
    } finally {
      await stopAll(service);
      registrar.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a registrar that refuses the password', () => {
  it('is told in the log, and asked no more for a while', async () => {
    const registrar = await FakeRegistrar.open('other');
    const service = await TestService.start({
      env: {
        SVC_SIP_ADDR: '127.0.0.1:0',
        SVC_SIP_REGISTER: `sip:agent@127.0.0.1:${registrar.port}`,
        SVC_SIP_REGISTER_PASSWORD: 's3cret',
      },
    });
    const line = await service.says('the SIP registrar has not registered this service');
    expect(line['status']).toBe(401);
    expect(Number(line['againInMs'])).toBeGreaterThan(200_000);
    expect(registrar.asked.length).toBe(2);
    expect(JSON.stringify(service.log)).not.toContain('s3cret');
    await service.stop();
    registrar.close();
  });
});

describe('a stranger', () => {
  it('is refused where there is an account and nothing else that lets callers in', async () => {
    // Everybody on this machine has the registrar's address, so that the account is at another one, which never answers.
    const service = await TestService.start({
      env: {
        SVC_SIP_ADDR: '127.0.0.1:0',
        SVC_SIP_REGISTER: 'sip:agent@127.0.0.9',
        SVC_SIP_REGISTER_PASSWORD: 's3cret',
      },
    });
    const address = service.said('listening', (line) => line['listener'] === 'sip')?.['address'];
    const phone = await Phone.open(Number(String(address).split(':').at(-1)));
    expect((await phone.invite()).status).toBe(403);
    phone.close();
    await service.says('a SIP peer was refused', (line) => line['address'] === '127.0.0.1');
    await service.stop();
  });
});
