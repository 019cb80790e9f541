/**
 * Chromium on networks that let little through: TCP alone (ICE-TCP), the service's relay alone, and a relay of the browser's own. The
 * connection is the browser's, and the answer untouched.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { TestService } from '../support/process/service.ts';
import { Coturn, coturnMissing } from '../support/webrtc/coturn.ts';
import { callerWav } from './scripted-service.ts';

/** Calls by WHIP as any page would; resolves once a second of sound is there, with how it came. */
const callByWhip = (relayOnly: boolean): string => `(async () => {
  const { iceServers } = await (await fetch('/whip/ice')).json();
  const connection = new RTCPeerConnection({ iceServers, iceTransportPolicy: ${relayOnly ? "'relay'" : "'all'"} });
  window.connection = connection;
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  connection.addTransceiver(microphone.getAudioTracks()[0], { direction: 'sendrecv' });
  connection.ontrack = ({ track }) => {
    const audio = document.createElement('audio');
    audio.autoplay = true;
    audio.srcObject = new MediaStream([track]);
    document.body.append(audio);
  };
  await connection.setLocalDescription(await connection.createOffer());
  await new Promise((resolve) => {
    const look = () => connection.iceGatheringState === 'complete' && resolve();
    connection.onicegatheringstatechange = look;
    look();
  });
  const answer = await fetch('/whip', {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp' },
    body: connection.localDescription.sdp,
  });
  if (answer.status !== 201) return { status: answer.status };
  window.session = answer.headers.get('Location');
  await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stats = [...(await connection.getStats()).values()];
    const inbound = stats.find(({ type }) => type === 'inbound-rtp');
    if (!(inbound?.packetsReceived >= 50 && inbound.totalAudioEnergy > 0)) continue;
    const pair = stats.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded');
    // What is heard may be there before what is said of the way.
    if (pair === undefined) continue;
    const end = (id) => stats.find((one) => one.id === id) ?? {};
    const [local, remote] = [end(pair.localCandidateId), end(pair.remoteCandidateId)];
    return { lost: inbound.packetsLost, local: local.candidateType, remote: remote.candidateType, protocol: local.protocol };
  }
})()`;

const missing = chromiumMissing ?? coturnMissing;

describe.skipIf(missing !== undefined)(`Chromium where little gets through ${missing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-ways-'));
  let coturn: Coturn;
  let service: TestService;
  let chromium: ChromiumPage;

  beforeAll(async () => {
    writeFileSync(join(folder, 'caller.wav'), callerWav());
    coturn = await Coturn.start();
  });

  afterAll(async () => {
    await coturn.stop();
    rmSync(folder, { recursive: true });
  });

  afterEach(async () => {
    await chromium.close();
    if (!service.isOver) await service.stop();
  });

  async function call(
    env: Readonly<Record<string, string>>,
    { withoutUdp = false, relayOnly = false } = {},
  ): Promise<unknown> {
    service = await TestService.start({
      greeting: 'One two three four five six seven. '.repeat(12),
      env: { SVC_PAGE_ADDR: '127.0.0.1:0', SVC_WEBRTC_ADDR: '127.0.0.1:0', ...env },
    });
    chromium = await openChromium(join(folder, 'caller.wav'), { withoutUdp });
    await chromium.page.goto(`http://${service.address('page')}/`);
    return chromium.page.evaluate(callByWhip(relayOnly));
  }

  const relays = (): Readonly<Record<string, string>> => ({
    ...{ SVC_TURN_PROVIDER: 'self_hosted_turn', SVC_TURN_SECRET: coturn.secret },
    ...{ SVC_TURN_URLS: coturn.url('udp'), NODE_EXTRA_CA_CERTS: coturn.certificate },
  });

  it('calls by TCP where there is no UDP, and the hang-up closes its connection', async () => {
    const how = await call({ SVC_WEBRTC_TCP_ADDR: '127.0.0.1:0' }, { withoutUdp: true });
    expect(how).toMatchObject({ protocol: 'tcp', lost: 0 });
    await chromium.page.evaluate(`fetch(window.session, { method: 'DELETE' })`);
    await service.says('call ended', ({ end }) => end === 'hangup');
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it.each(['udp', 'tcp', 'tls'] as const)(
    'calls by the relay of a service that is not reached otherwise, by %s',
    async (transport) => {
      const env = { ...relays(), SVC_TURN_URLS: coturn.url(transport), SVC_WEBRTC_TURN_RELAY: 'only' };
      const how = await call(env);
      expect(how).toMatchObject({ remote: 'relay', protocol: 'udp' });
    },
  );

  it('calls by a relay of its own, with what GET /whip/ice gives', async () => {
    const how = await call(relays(), { relayOnly: true });
    expect(how).toMatchObject({ local: 'relay' });
  });
});
