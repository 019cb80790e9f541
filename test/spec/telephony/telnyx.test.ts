/** The words of Telnyx's media stream: encodings, the order of chunks, marks, keys, parameters and bad frames. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import { controlCapabilities, missingTransfers } from '../../../supervisor/telephony/control-capabilities.ts';
import { ChunkOrder } from '../../../worker/telephony/telnyx/dialect.ts';
import { telnyxDialect } from '../../../worker/telephony/telnyx/dialect.ts';
import type { SocketDialect } from '../../../worker/transports/socket/dialect.ts';

const start = (media: object = { encoding: 'PCMU', sample_rate: 8000 }, more: object = {}): string =>
  JSON.stringify({
    event: 'start',
    stream_id: 's-1',
    start: { call_control_id: 'v3:a', from: '+1', to: '+2', media_format: media, ...more },
  });
const media = (chunk: unknown, payload: Buffer, more: object = {}): string =>
  JSON.stringify({
    event: 'media',
    stream_id: 's-1',
    media: { track: 'inbound', chunk, payload: payload.toString('base64') },
    ...more,
  });

function open(text = start(), signedMetadata: Record<string, string> = {}): SocketDialect {
  const dialect = telnyxDialect({ signedMetadata });
  const heard = dialect.hear(text);
  expect(heard).toMatchObject({ type: 'message', message: { type: 'start', fields: { ok: true } } });
  return dialect;
}

describe('the start of a stream', () => {
  it.each([
    [
      { encoding: 'PCMU', sample_rate: 8000 },
      { encoding: 'mulaw', sampleRate: 8000 },
    ],
    [
      { encoding: 'PCMA', sample_rate: 8000 },
      { encoding: 'mulaw', sampleRate: 8000 },
    ],
    [
      { encoding: 'L16', sample_rate: 16000 },
      { encoding: 'pcm16', sampleRate: 16000 },
    ],
  ])('%j', (format, call) => {
    const heard = telnyxDialect({ signedMetadata: {} }).hear(start(format));
    expect(heard).toMatchObject({ message: { fields: { ok: true, value: { callId: 'v3:a', ...call } } } });
  });

  it.each([
    ['another encoding', start({ encoding: 'G722', sample_rate: 8000 })],
    ['another rate', start({ encoding: 'PCMU', sample_rate: 16000 })],
    ['no format', start(null as unknown as object)],
    ['no call', start(undefined, { call_control_id: 5 })],
  ])('is refused with %s', (_, text) => {
    expect(telnyxDialect({ signedMetadata: {} }).hear(text)).toMatchObject({
      message: { type: 'start', fields: { ok: false } },
    });
  });

  it('is refused for another call than its address was made for', () => {
    const dialect = telnyxDialect({ signedMetadata: { [carrierKeys.callId]: 'v3:other' } });
    expect(dialect.hear(start())).toMatchObject({ message: { fields: { ok: false } } });
  });

  it('brings its parameters along, and numbers only where they are shown', () => {
    const long = { name: 'note', value: 'x'.repeat(257) };
    const given = { custom_parameters: [{ name: 'agent_route', value: 'sales' }, { name: 5 }, long] };
    const metadata = (signed: Record<string, string>): unknown => {
      const heard = telnyxDialect({ signedMetadata: signed }).hear(start(undefined, given));
      const { fields } = (heard as unknown as { message: { fields: { value: { metadata: unknown } } } })
        .message;
      return fields.value.metadata;
    };
    expect(metadata({})).toEqual({ agent_route: 'sales' });
    expect(metadata({ [carrierKeys.numbers]: 'shown' })).toEqual({
      agent_route: 'sales',
      from: '+1',
      to: '+2',
    });
  });
});

describe('audio', () => {
  const a = Buffer.from([0xff, 0x7f]);
  const b = Buffer.from([0x00, 0x80]);

  it('is heard in the order of its chunks; one that comes too late is not heard', () => {
    const dialect = open();
    expect(dialect.hear(media('1', a))).toEqual({ type: 'audio', bytes: a });
    expect(dialect.hear(media('3', b))).toEqual({ type: 'nothing' });
    expect(dialect.hear(media('2', a))).toEqual({ type: 'audio', bytes: Buffer.concat([a, b]) });
    expect(dialect.hear(media('2', a))).toEqual({ type: 'nothing' });
  });

  it('goes on without a chunk that is lost, once a few are behind it', () => {
    const order = new ChunkOrder();
    const heard = [1, 3, 4, 5, 6, 7, 8].map((chunk) => order.take(chunk, Buffer.from([chunk])));
    expect(Buffer.concat(heard.filter((one) => one !== undefined))).toEqual(
      Buffer.from([1, 3, 4, 5, 6, 7, 8]),
    );
  });

  it('is heard again soon after the count of chunks has begun anew', () => {
    const order = new ChunkOrder();
    for (let chunk = 500; chunk < 520; chunk += 1) order.take(chunk, Buffer.from([0]));
    const heard = Array.from({ length: 20 }, (_, chunk) => order.take(chunk + 1, Buffer.from([chunk + 1])));
    expect(Buffer.concat(heard.filter((one) => one !== undefined))).toEqual(
      Buffer.from([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]),
    );
    // A single late one is none of these.
    expect(order.take(3, Buffer.from([3]))).toBeUndefined();
    expect(order.take(21, Buffer.from([21]))).toEqual(Buffer.from([21]));
  });

  it('of A-law is heard as mu-law, and L16 in the order of the network in both directions', () => {
    const aLaw = open(start({ encoding: 'PCMA', sample_rate: 8000 }));
    // The least of A-law, which knows no zero, and the loudest of either sign.
    expect(aLaw.hear(media('1', Buffer.from([0xd5, 0xaa, 0x2a])))).toEqual({
      type: 'audio',
      bytes: Buffer.from([0xfe, 0x80, 0x00]),
    });
    const linear = open(start({ encoding: 'L16', sample_rate: 16000 }));
    expect(linear.hear(media('1', Buffer.from([1, 2])))).toEqual({
      type: 'audio',
      bytes: Buffer.from([2, 1]),
    });
    expect(linear.writeAudio(Buffer.from([2, 1]))).toBe('{"event":"media","media":{"payload":"AQI="}}');
  });

  it('of the bot, of another stream, or without a payload is none', () => {
    const dialect = open();
    const outbound = { media: { track: 'outbound', payload: 'AAAA' } };
    expect(dialect.hear(media('1', a, outbound))).toEqual({ type: 'nothing' });
    expect(dialect.hear(media('1', a, { stream_id: 's-2' }))).toMatchObject({ message: { type: 'unknown' } });
    expect(dialect.hear(media('1', a, { media: 7 }))).toMatchObject({ message: { type: 'unknown' } });
  });
});

describe('the other words', () => {
  it('marks that come back after clear are forgotten', () => {
    const dialect = open();
    dialect.write({ type: 'mark', id: 'm1' });
    dialect.write({ type: 'mark', id: 'm2' });
    const back = (name: string): string =>
      JSON.stringify({ event: 'mark', stream_id: 's-1', mark: { name } });
    expect(dialect.hear(back('m1'))).toMatchObject({ message: { type: 'mark' } });
    expect(dialect.write({ type: 'clear', epoch: 2 })).toBe('{"event":"clear"}');
    expect(dialect.hear(back('m2'))).toEqual({ type: 'nothing' });
  });

  it('keys, the end, error frames and what is not JSON', () => {
    const codes: string[] = [];
    const dialect = telnyxDialect({ signedMetadata: {}, complained: ({ code }) => void codes.push(code) });
    dialect.hear(start());
    const say = (event: string, more: object = {}): unknown =>
      dialect.hear(JSON.stringify({ event, stream_id: 's-1', ...more }));
    expect(say('dtmf', { dtmf: { digit: '#' } })).toMatchObject({
      message: { type: 'dtmf', digit: { ok: true } },
    });
    expect(say('dtmf', { dtmf: { digit: 'flash' } })).toEqual({ type: 'nothing' });
    expect(say('news')).toEqual({ type: 'nothing' });
    expect(say('error', { payload: { code: 100003 } })).toEqual({ type: 'nothing' });
    expect(say('error', { payload: 'again' })).toEqual({ type: 'nothing' });
    expect(codes).toEqual(['100003']);
    expect(say('stop')).toMatchObject({ message: { type: 'stop' } });
    expect(dialect.hear('{"event":')).toMatchObject({ message: { type: 'not-json' } });
    expect(dialect.hear('[]')).toMatchObject({ message: { type: 'not-json' } });
  });

  it('goes on in another worker where it was', () => {
    const dialect = open();
    dialect.hear(media('1', Buffer.from([1])));
    const other = telnyxDialect({ signedMetadata: {}, saved: JSON.parse(dialect.save()) });
    expect(other.hear(media('2', Buffer.from([2])))).toMatchObject({ type: 'audio' });
  });
});

describe('the settings of carrier B', () => {
  const read = (env: Record<string, string>): ReturnType<typeof parseServerSettings> =>
    parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2 });
  const problems = (env: Record<string, string>): string[] => {
    const found = read(env);
    return found.ok ? [] : found.error.map(({ variable }) => variable);
  };
  const open = { SVC_CARRIER_B_ADDR: '0.0.0.0:8091' };
  const token = { SVC_CARRIER_B_STREAM_TOKEN: 't'.repeat(32) };

  it('refuse a listener off loopback without SVC_CARRIER_B_STREAM_TOKEN, unless SVC_INSECURE_LISTENERS says so', () => {
    expect(problems(open)).toEqual(['SVC_CARRIER_B_ADDR']);
    expect(problems({ ...open, ...token })).toEqual([]);
    expect(problems({ ...open, SVC_INSECURE_LISTENERS: '1' })).toEqual([]);
    expect(problems({ SVC_CARRIER_B_ADDR: '127.0.0.1:8091' })).toEqual([]);
  });

  it('take no session tokens for a carrier', () => {
    expect(problems({ ...open, SVC_SESSION_SECRET: 's'.repeat(32) })).toEqual(['SVC_CARRIER_B_ADDR']);
  });

  it('need an address, a key and a token to control calls with', () => {
    expect(problems({ SVC_CARRIER_B_ADDR: '127.0.0.1:1', SVC_CARRIER_B_API_KEY: 'k' })).toEqual([
      'SVC_CARRIER_B_PUBLIC_URL',
      'SVC_CARRIER_B_PUBLIC_KEY',
      'SVC_CARRIER_B_STREAM_TOKEN',
    ]);
  });
});

describe('what calls can be made to do', () => {
  const control = { apiKey: new Sensitive('k'), apiUrl: '', publicKey: '', connectionId: '' };
  const addr = { host: '127.0.0.1', port: 0 };
  const a = (resumesStream: boolean): Parameters<typeof controlCapabilities>[0] => ({
    twilio: {
      ...{ addr, publicUrl: '', authToken: new Sensitive('t'), allowsStaticUrl: false, resumesStream },
      control: { accountSid: 'AC', user: 'AC', password: new Sensitive('p'), apiUrl: '' },
    },
  });

  it('keys: carrier A unsupported unless resume-stream is enabled; carrier B supported; nowhere else', () => {
    expect(controlCapabilities(a(false)).carrier_a?.keys).toBe(false);
    expect(controlCapabilities(a(true)).carrier_a?.keys).toBe(true);
    expect(controlCapabilities({ telnyx: { addr, publicUrl: '', control } }).carrier_b?.keys).toBe(true);
    // WebSocket and loopback calls have no carrier.
    expect(controlCapabilities({})).toEqual({});
  });

  it('an operator is told which variable keeps the transfers of the agent file from calls', () => {
    const destinations = new Map([['billing', new Sensitive('+15550100077')]]);
    const missing = (settings: Parameters<typeof controlCapabilities>[0], warmTransfer = true): unknown =>
      missingTransfers({ destinations, warmTransfer }, settings).map((note) => note.split(' ').at(-1));
    const streams = { telnyx: { addr, publicUrl: '' } };
    const bare = { ...streams, sip: { refers: false } as never };
    expect(missing(bare)).toEqual(['SVC_CARRIER_B_API_KEY', 'SVC_SIP_REFER=on']);
    expect(missing(a(true))).toEqual(['SVC_CALLBACK_ADDR']);
    expect(missing({ telnyx: { ...streams.telnyx, control }, callback: {} as never })).toEqual([
      'SVC_CARRIER_B_CONNECTION_ID',
    ]);
    expect(missing({ ...a(true), callback: {} as never })).toEqual([]);
    expect(missing(a(true), false)).toEqual([]);
    expect([true, false].map((warm) => missing({ sip: { refers: true } as never }, warm))).toEqual([
      ['cold'],
      [],
    ]);
    expect(missingTransfers({ destinations: new Map(), warmTransfer: true }, bare)).toEqual([]);
  });
});
