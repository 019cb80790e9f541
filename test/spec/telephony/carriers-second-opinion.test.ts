/**
 * The frames of both carriers' streams by a second opinion, the serializers of Pipecat (PyPI): what the fake carriers send is what it
 * reads, what it would send is what our dialects send, and the fake carriers take its frames as they take ours.
 */
import { spawnSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { twilioDialect } from '../../../worker/telephony/twilio/dialect.ts';
import { telnyxDialect } from '../../../worker/telephony/telnyx/dialect.ts';
import type { SocketDialect } from '../../../worker/transports/socket/dialect.ts';
import { FakeStream, publicUrl } from '../../support/fakes/fake-twilio.ts';
import { FakeBStream } from '../../support/telephony/fake-telnyx.ts';

/** A virtual environment with Pipecat. */
const tools = process.env['SVC_CARRIER_TOOLS'];
const missing = 'SVC_CARRIER_TOOLS names no virtual environment with Pipecat';
const script = fileURLToPath(new URL('../../support/telephony/pipecat_frames.py', import.meta.url));

interface Opinion {
  readonly transport: string;
  readonly call: string;
  readonly stream: string;
  readonly heard: string;
  readonly keys: string;
  readonly sound: string;
  readonly clear: string;
}

function opinionOf(given: object): Opinion {
  const { stdout, stderr, status } = spawnSync(`${tools ?? ''}/bin/python`, [script], {
    input: JSON.stringify(given),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`pipecat_frames.py failed: ${stderr}`);
  return JSON.parse(stdout) as Opinion;
}

/** A carrier whose stream leads here. */
interface Row {
  readonly name: 'a' | 'b';
  readonly transport: string;
  readonly call: string;
  readonly stream: string;
  readonly open: (address: string) => FakeStream | FakeBStream;
  readonly begin: (stream: FakeStream | FakeBStream) => void;
  readonly dialect: SocketDialect;
}

const rows: readonly Row[] = [
  {
    ...{ name: 'a', transport: 'twilio', call: 'CA0001', stream: 'MZ0001' },
    open: (address) => new FakeStream(address, { callSid: 'CA0001', url: `${publicUrl}/x` }),
    begin: (stream) => (stream as FakeStream).begin({ agent_route: 'sales' }),
    dialect: twilioDialect({ signedMetadata: {} }),
  },
  {
    ...{ name: 'b', transport: 'telnyx', call: 'v3:abc', stream: 'stream-1' },
    open: (address) =>
      new FakeBStream(address, { path: '/carrier_b/stream/x', token: 't', callId: 'v3:abc' }),
    // It begins by itself.
    begin: () => undefined,
    dialect: telnyxDialect({ signedMetadata: {} }),
  },
];

/** Two seconds of a tone, at 16 kHz: as long as it takes to be told from silence. */
const tone = Int16Array.from(
  { length: 32_000 },
  (_, at) => 8_000 * Math.sin((at * 2 * Math.PI * 440) / 16_000),
);

const pcmOf = (mulaw: Uint8Array): Int16Array => {
  const pcm = new Int16Array(mulaw.length);
  decodeMulaw(mulaw, pcm);
  return pcm;
};

const base64 = (pcm: Int16Array): string =>
  Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString('base64');

/** Where a frame stands in what was spoken; Telnyx may send them in another order. */
const placeOf = (frame: string): number => {
  const { media } = JSON.parse(frame) as { media?: { chunk?: string } };
  return Number(media?.chunk ?? 0);
};

describe.skipIf(tools === undefined)(`Pipecat${tools === undefined ? ` (${missing})` : ''}`, () => {
  let server: WebSocketServer;
  let address: string;
  const frames: string[] = [];
  let socket: WebSocket | undefined;

  beforeAll(async () => {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (opened) => {
      socket = opened;
      opened.on('message', (data: Buffer) => frames.push(data.toString()));
    });
    await new Promise((resolve) => server.once('listening', resolve));
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
  });

  it.each(rows)('reads and writes what carrier $name does', async ({ dialect, ...row }) => {
    frames.length = 0;
    const fake = row.open(address);
    await fake.until(() => fake.status === 101);
    row.begin(fake);
    const saying = fake.say(tone);
    for (const digit of '42#') fake.press(digit);
    await saying;
    fake.stop();
    const end = fake.of('media').length;
    const spoken = frames.toSorted((one, other) => placeOf(one) - placeOf(other));
    const heard: Buffer[] = [];
    let keys = '';
    for (const frame of spoken) {
      const said = dialect.hear(frame);
      if (said.type === 'audio') heard.push(said.bytes);
      else if (said.type === 'message' && said.message.type === 'dtmf' && said.message.digit.ok)
        keys += said.message.digit.value;
    }
    const pcm = pcmOf(Buffer.concat(heard));
    const { name: carrier, stream, transport, call } = row;
    const theirs = opinionOf({ carrier, stream, frames: spoken, pcm: base64(pcm.subarray(0, 1_600)) });
    expect([theirs.transport, theirs.call, theirs.stream]).toEqual([transport, call, stream]);
    expect([theirs.keys, keys]).toEqual(['42#', '42#']);
    expect(pcm.length).toBeGreaterThan(15_000);
    expect(theirs.heard === base64(pcm)).toBe(true);

    const coded = new Uint8Array(1_600);
    encodeMulaw(pcm.subarray(0, 1_600), coded);
    const ours = [dialect.writeAudio(Buffer.from(coded)), dialect.write({ type: 'clear', epoch: 1 })];
    expect(ours.map((one) => JSON.parse(String(one)) as unknown)).toEqual(
      [theirs.sound, theirs.clear].map((one) => JSON.parse(one) as unknown),
    );
    // The far end plays their sound, and stops for their word.
    socket?.send(theirs.sound);
    await fake.until(() => fake.handset.played.some((bytes) => bytes.equals(Buffer.from(coded))));
    socket?.send(theirs.clear);
    await fake.until(() => fake.of('clear').length === 1);
    expect(fake.of('media').length).toBe(end + 1);
    fake.close();
  });
});
