/**
 * Asterisk between telephones and the service with the demo's ear, mind and voice (docs/sip.md): telephones that are registered there ask
 * over UDP and over TLS with SDES, are handed on by REFER, and are called. The calls run side by side.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beep, joined, silence } from '../support/audio/answers.ts';
import { atRate, spoken, stopped, type DemoAddresses } from '../support/process/running-demo.ts';
import { build, TestService } from '../support/process/service.ts';
import { selfSigned } from '../support/self-signed.ts';
import { Asterisk, asteriskMissing } from '../support/sip/asterisk.ts';
import {
  baresipCall,
  baresipMissing,
  pauseMs,
  stretches,
  type BaresipCall,
  type BaresipResult,
} from '../support/sip/baresip.ts';

/** Below what systems give out by themselves: UDP and TCP need the same one, and Asterisk is told of all before it starts. */
const firstPort = 25_000 + 4 * (process.pid % 500);
const ports = { pbx: firstPort, pbxTls: firstPort + 1, service: firstPort + 2, serviceTls: firstPort + 3 };
const secret = 'o'.repeat(32);
const rate = 8_000;
const toneHz = 1_000;
const missing = baresipMissing ?? asteriskMissing;

const extensions = `
exten => agent,1,Dial(PJSIP/agent)
exten => agent-tls,1,Dial(PJSIP/agent-tls)
exten => registered,1,Dial(PJSIP/100)
exten => +15550100077,1,Answer()
 same => n,Playtones(${toneHz})
 same => n,Wait(2)
 same => n,Hangup()
exten => +15550100204,1,Dial(PJSIP/204)
exten => +15550100206,1,Dial(PJSIP/206)
`;

/** How much of the power of this is a tone of one frequency. */
function shareOfTone(pcm: Int16Array): number {
  const turn = (2 * Math.PI * toneHz) / rate;
  let [re, im, power] = [0, 0, 0];
  pcm.forEach((sample, at) => {
    re += sample * Math.cos(turn * at);
    im += sample * Math.sin(turn * at);
    power += sample * sample;
  });
  return (2 * (re * re + im * im)) / pcm.length / power;
}

describe.skipIf(missing !== undefined)(`Asterisk${missing === undefined ? '' : ` (${missing})`}`, () => {
  let demo: ChildProcess;
  let places: DemoAddresses;
  let service: TestService;
  let asterisk: Asterisk;
  let folder = '';

  beforeAll(async () => {
    build();
    folder = mkdtempSync(join(tmpdir(), 'sip-tls-'));
    const certificate = selfSigned();
    const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
    writeFileSync(files.key, certificate.key);
    writeFileSync(files.cert, certificate.cert);
    const account = { user: 'alice', password: 's3cret' };
    const phones = ['201', '202', '203', '204', '205', '206'].map((name) => [name, `p${name}`] as const);
    asterisk = await Asterisk.start({
      ports: { plain: ports.pbx, tls: ports.pbxTls, rtp: [39_000, 39_398] },
      certificate,
      service: { plain: ports.service, tls: ports.serviceTls, ...account },
      phones: { ...Object.fromEntries(phones), 100: 'p100' },
      extensions,
    });
    demo = spawn(process.execPath, ['dist/examples/demo/main.js', '--free-ports'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: demo.stdout! }), 'line')) as [string];
    const ready = JSON.parse(line) as DemoAddresses & { agentFile: string };
    places = ready;
    service = await TestService.start({
      agentText: readFileSync(ready.agentFile, 'utf8')
        .replace(/^greeting = .*$/m, 'greeting = "Hello, how can I help you?"')
        .replace('tools = ["end_call"]', 'tools = ["end_call", "transfer_call"]')
        .concat('\n[telephony.destinations]\nsupport = "+15550100077"\n'),
      workers: 2,
      env: {
        ...{ SVC_SIP_ADDR: `127.0.0.1:${ports.service}`, SVC_SIP_TLS_ADDR: `127.0.0.1:${ports.serviceTls}` },
        ...{ SVC_SIP_TLS_CERT: files.cert, SVC_SIP_TLS_KEY: files.key, SVC_SIP_RTP_PORTS: '39400-39798' },
        ...{ SVC_SIP_USER: account.user, SVC_SIP_PASSWORD: account.password, SVC_SIP_REFER: 'on' },
        ...{ SVC_SIP_REGISTER: `sip:100@127.0.0.1:${ports.pbx}`, SVC_SIP_REGISTER_PASSWORD: 'p100' },
        ...{ SVC_SIP_TRUNK: `sip:100@127.0.0.1:${ports.pbx}`, SVC_SIP_TRUNK_PASSWORD: 'p100' },
        ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
        ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
      },
    });
    await service.says('registered at a SIP registrar');
  });

  afterAll(async () => {
    await service.stop();
    await Promise.all([asterisk.stop(), stopped(demo)]);
    rmSync(folder, { recursive: true });
  });

  /** A telephone of this name, registered at Asterisk: it calls an extension, or waits to be called. */
  const phone = async (
    name: string,
    how: {
      readonly says: string | Int16Array;
      readonly manner?: BaresipCall['manner'];
      readonly extension?: string;
    },
  ): Promise<BaresipResult> => {
    const { says, manner, extension } = how;
    const result = await baresipCall({
      account: { address: `sip:${name}@127.0.0.1:${ports.pbx}`, password: `p${name}` },
      ...(extension !== undefined && { uri: `sip:${extension}@127.0.0.1:${ports.pbx}` }),
      ...{ codec: 'PCMU/8000/1', rate, seconds: 45, ...(manner && { manner }) },
      says: typeof says === 'string' ? await spoken(places, says, { rate }) : says,
    });
    expect(result.text, asterisk.text).toContain('Call established');
    return result;
  };

  /** The service calls a telephone that has registered. Resolves with how that ended. */
  const callTo = async (name: string, more: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    await asterisk.says(new RegExp(`Added contact .* to AOR '${name}'`));
    const response = await fetch(`http://${service.address('callback')}/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ to: `+15550100${name}`, ...more }),
    });
    const { id } = (await response.json()) as { id: string };
    const isOver = (line: Readonly<Record<string, unknown>>): boolean =>
      line['outbound'] === id && line['phase'] === 'over';
    return (await service.says('an outbound call has moved', isOver))['end'];
  };

  /** The greeting, and the answer behind the question. */
  const isAnswered = ({ heard }: BaresipResult): void => {
    const said = stretches(heard, { rate, pauseMs });
    expect(said.length, said.join()).toBeGreaterThanOrEqual(2);
    expect(Math.min(...said.slice(0, 2))).toBeGreaterThan(0.5);
  };

  it.concurrent.each([
    ['a trunk', '203', 'agent'],
    ['an account at Asterisk', '205', 'registered'],
  ])('a caller is handed on, who has called by %s', async (_name, name, extension) => {
    const says = "I'd like to speak to customer support";
    const { heard, text } = await phone(name, { says, extension, manner: 'insists' });
    const end = heard.findLastIndex((sample) => Math.abs(sample) > 200);
    expect(shareOfTone(heard.subarray(end - rate, end)), `${text}\n${asterisk.text}`).toBeGreaterThan(0.9);
  });

  it.concurrent.each([
    ['UDP', '201', 'agent'],
    ['TLS with SDES', '202', 'agent-tls'],
  ])('a question is answered over %s', async (_name, name, extension) => {
    isAnswered(await phone(name, { says: 'What time is it?', extension }));
  });

  it.concurrent('a telephone is called, and its question answered', async () => {
    const called = phone('204', { says: 'What time is it?' });
    expect(await callTo('204')).toBe('talked');
    isAnswered(await called);
  });

  it.concurrent('a machine that answers is told the message behind its beep', async () => {
    const words = await spoken(places, 'This is the mailbox of Ada. Speak after the tone.', { rate: 16_000 });
    const answer = joined([silence(300), words, silence(300), beep(1_000, 400)]);
    const says = atRate(answer, { from: 16_000, to: rate });
    const called = phone('206', { says, manner: 'machine' });
    const voicemail = 'This is Blue Door. Please call us back.';
    expect(await callTo('206', { machine_detection: 'own', voicemail })).toBe('message_left');
    const { heard } = await called;
    const said = stretches(heard, { rate, pauseMs });
    expect(said.length, said.join()).toBe(1);
    expect(said[0]).toBeGreaterThan(1.5);
    // Nothing was said before the beep.
    expect(heard.findIndex((sample) => Math.abs(sample) > 200)).toBeGreaterThan(says.length * 0.9);
  });
});
