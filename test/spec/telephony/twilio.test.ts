/** Twilio by its documents: signatures, segments, the webhook's answer (docs/telephony.md, What is checked), and the words of its stream. */
import { describe, expect, it } from 'vitest';
import type { TwilioSettings } from '../../../shared/telephony/twilio/variables.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import { admitStream } from '../../../supervisor/telephony/twilio/listener.ts';
import { readSegment, streamSegment } from '../../../supervisor/telephony/twilio/segment.ts';
import { isSigned, signatureOf } from '../../../supervisor/telephony/twilio/signature.ts';
import { answerVoice } from '../../../supervisor/telephony/twilio/voice-webhook.ts';
import { twilioDialect } from '../../../worker/telephony/twilio/dialect.ts';
import type { SocketDialect } from '../../../worker/transports/socket/dialect.ts';
import {
  carrierEnv,
  carrierToken as token,
  publicUrl,
  sign,
  streamUrlOf,
} from '../../support/fakes/fake-twilio.ts';

const secret = 'k'.repeat(32);
const nowS = 1_800_000_000;
const settings: TwilioSettings = {
  addr: { host: '127.0.0.1', port: 0 },
  publicUrl,
  authToken: new Sensitive(token),
  streamSecret: new Sensitive(secret),
  allowsStaticUrl: false,
  resumesStream: false,
};

describe('the signature', () => {
  const form: [string, string][] = [
    ['To', '+15550100002'],
    ['ApiVersion', '2010-04-01'],
    ['From', '+15550100001'],
    ['Called', '+15550100002'],
    ['CallSid', 'CA00000000000000000000000000000001'],
  ];
  const stream = 'wss://voice.example.com/carrier_a/stream/abc123';

  it.each([
    ['a form', 'https://voice.example.com/carrier_a/voice?x=1', form, 'bIYa8tVdKIbQQyxQp2bg6TlIZBY='],
    ['an upgrade', stream, [], 'SmpcgESO4otle5LaQW3tM1EJPkM='],
    ['a trailing slash', `${stream}/`, [], '3nyVz2TwDjpbweTSF2ukoJ0pUDQ='],
    ['the port 443', stream.replace('.com/', '.com:443/'), [], '0orxtlGcrR0R5lXGLEXqk+rb+Y0='],
    ['another scheme', stream.replace('wss', 'https'), [], 'XwYBIxg9AeB6D1fm3oZ7Yqc7FWw='],
  ] as const)('over %s is that of the documents', (_, url, parameters, signature) => {
    expect(signatureOf(url, parameters, token)).toBe(signature);
  });

  it('counts with the port and without, and not for another address, another token or none', () => {
    const withPort = stream.replace('.com/', '.com:443/');
    expect(isSigned(signatureOf(withPort, [], token), { url: stream, token })).toBe(true);
    expect(isSigned(signatureOf(stream, [], token), { url: withPort, token })).toBe(true);
    expect(isSigned(signatureOf(`${stream}/`, [], token), { url: stream, token })).toBe(false);
    expect(isSigned(signatureOf(stream, [], 'other'), { url: stream, token })).toBe(false);
    expect(isSigned(undefined, { url: stream, token })).toBe(false);
  });

  it('sorts the values of a name that stands twice, and counts equal ones once', () => {
    const twice = [
      ['a', '2'],
      ['a', '1'],
      ['a', '2'],
    ] as const;
    expect(signatureOf(stream, twice, token)).toBe(signatureOf(`${stream}a1a2`, [], token));
  });
});

describe('the segment of a call', () => {
  const segment = streamSegment('CA1', { secret, nowS }) ?? '';

  it('is good for its call until it expires', () => {
    expect(readSegment(segment, { secret, nowS })).toMatchObject({ callId: 'CA1', expS: nowS + 120 });
    expect(readSegment(segment, { secret, nowS: nowS + 119 })).toBeDefined();
    expect(readSegment(segment, { secret, nowS: nowS + 120 })).toBeUndefined();
  });

  it.each([
    ['another secret', segment, 'x'.repeat(32)],
    ['another call', segment.replace('CA1', 'CA2'), secret],
    ['another expiry', segment.replace(/^\w/, 'z'), secret],
    ['something behind it', `${segment}.x`, secret],
    ['no signature', segment.replace(/\.[^.]*$/, '.'), secret],
    ['nothing', '', secret],
  ])('is not with %s', (_, text, key) => {
    expect(readSegment(text, { secret: key, nowS })).toBeUndefined();
  });
});

describe('an upgrade at the stream', () => {
  const segment = streamSegment('CA1', { secret, nowS }) ?? '';
  const head = (
    url: string,
    signed = `wss://voice.example.com${url}`,
  ): Parameters<typeof admitStream>[1] => ({
    url,
    headers: { 'x-twilio-signature': sign(signed) },
  });
  const path = `/carrier_a/stream/${segment}`;

  it('is let in with its signature and its segment, once, for that call', () => {
    const admitted = admitStream(settings, head(path), nowS);
    expect(admitted).toMatchObject({ ok: true, value: { pass: { expS: nowS + 120 } } });
    expect(admitted.ok && admitted.value.metadata[carrierKeys.callId]).toBe('CA1');
    expect(admitted.ok && admitted.value.rest().url).toBe('/carrier_a/stream');
  });

  it.each([
    ['another path', head('/carrier_a/streams'), 404, 'not_found'],
    ['the signature of another address', head(path, publicUrl), 403, 'bad_signature'],
    ['a query', head(`${path}?x=1`), 403, 'bad_segment'],
    ['no segment', head('/carrier_a/stream'), 403, 'bad_segment'],
    ['a segment of somebody else', head('/carrier_a/stream/abc.CA1.x'), 403, 'bad_segment'],
  ])('is refused with %s', (_, request, status, code) => {
    expect(admitStream(settings, request, nowS)).toMatchObject({ ok: false, error: { status, code } });
  });

  it('is let in at the fixed address where the switch says so, with its signature all the same', () => {
    const fixed = { ...settings, allowsStaticUrl: true };
    expect(admitStream(fixed, head('/carrier_a/stream'), nowS).ok).toBe(true);
    expect(admitStream(fixed, head('/carrier_a/stream', 'wss://other.example'), nowS).ok).toBe(false);
  });
});

describe('the voice webhook', () => {
  const form = { CallSid: 'CA1', From: '+15550100001', CallerName: '' };
  const ask = (
    query = '',
    body = form,
    signed: Record<string, string> = body,
    shows = false,
    isClosed = false,
  ) =>
    answerVoice(
      settings,
      {
        headers: { 'x-twilio-signature': sign(`https://voice.example.com/carrier_a/voice${query}`, signed) },
        query,
        body: new URLSearchParams(body).toString(),
      },
      { nowS, shows, isClosed: () => isClosed },
    );

  it('connects the call to its own stream, and passes no number on', () => {
    const answer = ask();
    if (!answer.ok) throw new Error('refused');
    const url = streamUrlOf(answer.value);
    expect(url.startsWith(`${publicUrl}/`)).toBe(true);
    expect(readSegment(url.split('/').at(-1) ?? '', { secret, nowS })?.callId).toBe('CA1');
    expect(answer.value).not.toContain('555');
  });

  it('tells the stream who calls whom where the operator wants that', () => {
    const answer = ask('', form, form, true);
    expect(answer.ok && answer.value).toContain('<Parameter name="from" value="+15550100001"/>');
  });

  it('names the route of the agent, escaped', () => {
    const answer = ask(`?agent_route=${encodeURIComponent('a"<b>&\u0001')}`);
    expect(answer.ok && answer.value).toContain(
      '<Parameter name="agent_route" value="a&quot;&lt;b&gt;&amp;"/>',
    );
  });

  it('answers a call for which there is no room as busy, without a stream', () => {
    expect(ask('', form, form, false, true)).toEqual({
      ok: true,
      value: `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Reject reason="busy"/></Response>\n`,
    });
  });

  it("is refused without the carrier's signature over what was sent, or without a call", () => {
    expect(ask('', form, { ...form, From: '+1' })).toMatchObject({ ok: false, error: { status: 403 } });
    const nameless = { ...form, CallSid: 'not an id' };
    expect(ask('', nameless)).toMatchObject({ ok: false, error: { status: 400 } });
  });
});

describe('the settings', () => {
  const problems = (env: Record<string, string>): string[] => {
    const read = parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2 });
    return read.ok ? [] : read.error.map(({ variable }) => variable);
  };
  const withoutSecret = Object.fromEntries(
    Object.entries(carrierEnv).filter(([name]) => name !== 'SVC_CARRIER_A_STREAM_SECRET'),
  );

  it("need a public address, the carrier's token and a secret", () => {
    expect(problems(carrierEnv)).toEqual([]);
    expect(problems({ SVC_CARRIER_A_ADDR: '127.0.0.1:1' })).toEqual([
      'SVC_CARRIER_A_PUBLIC_URL',
      'SVC_CARRIER_A_AUTH_TOKEN',
      'SVC_CARRIER_A_STREAM_SECRET',
    ]);
    expect(problems({ ...carrierEnv, SVC_CARRIER_A_STREAM_SECRET: 'short' })).toEqual([
      'SVC_CARRIER_A_STREAM_SECRET',
    ]);
  });

  it('do without a secret where SVC_CARRIER_A_ALLOW_STATIC_URL says so', () => {
    expect(problems(withoutSecret)).toEqual(['SVC_CARRIER_A_STREAM_SECRET']);
    expect(problems({ ...withoutSecret, SVC_CARRIER_A_ALLOW_STATIC_URL: '1' })).toEqual([]);
  });

  it.each([
    'https://v.example/carrier_a/stream',
    'wss://v.example/other',
    'wss://v.example/carrier_a/stream?x=1',
    'wss://u:p@v.example/carrier_a/stream',
    'wss://V.example/carrier_a/stream',
  ])('refuse the public address %s', (url) => {
    expect(problems({ ...carrierEnv, SVC_CARRIER_A_PUBLIC_URL: url })).toEqual(['SVC_CARRIER_A_PUBLIC_URL']);
  });
});

describe('the words of the stream', () => {
  const startOf = (callSid = 'CA1', streamSid = 'MZ1', encoding = 'audio/x-mulaw'): string =>
    JSON.stringify({
      event: 'start',
      streamSid,
      start: {
        streamSid,
        callSid,
        mediaFormat: { encoding, sampleRate: 8000, channels: 1 },
        customParameters: { agent_route: 'sales' },
      },
    });
  const open = (): SocketDialect => {
    const dialect = twilioDialect({ signedMetadata: { [carrierKeys.callId]: 'CA1' } });
    dialect.hear(startOf());
    return dialect;
  };
  const say = (dialect: SocketDialect, event: string, fields: object = {}): unknown =>
    dialect.hear(JSON.stringify({ event, streamSid: 'MZ1', ...fields }));
  const mark = (id: string): { type: 'mark'; id: string } => ({ type: 'mark', id });

  it('connected says nothing; start opens a mu-law call at 8 kHz with the parameters as metadata', () => {
    const dialect = twilioDialect({ signedMetadata: {} });
    expect(dialect.hear('{"event":"connected","protocol":"Call","version":"1.0.0"}')).toEqual({
      type: 'nothing',
    });
    expect(dialect.hear(startOf())).toMatchObject({
      message: {
        type: 'start',
        fields: {
          ok: true,
          value: { sampleRate: 8000, encoding: 'mulaw', callId: 'CA1', metadata: { agent_route: 'sales' } },
        },
      },
    });
  });

  it('parameters that cannot be metadata are left out, and cost nobody the call', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`n${at}`, 'v']));
    const metadataOf = (customParameters: unknown): unknown => {
      const start = JSON.parse(startOf()) as { start: object };
      const dialect = twilioDialect({ signedMetadata: {} });
      const heard = dialect.hear(JSON.stringify({ ...start, start: { ...start.start, customParameters } }));
      return (heard as unknown as { message: { fields: { value: { metadata: object } } } }).message.fields
        .value.metadata;
    };
    expect(metadataOf({ name: 'Zoë', note: 'é'.repeat(129), ['k'.repeat(65)]: 'v', none: 5 })).toEqual({
      name: 'Zoë',
    });
    expect(Object.keys(metadataOf(many) as object).length).toBe(32);
    expect([metadataOf(null), metadataOf(5)]).toEqual([{}, {}]);
  });

  it.each([
    ['of another call than its address', startOf('CA2')],
    ['in another encoding', startOf('CA1', 'MZ1', 'audio/x-alaw')],
    ['without ids', '{"event":"start","start":{}}'],
    ['that is no object', '{"event":"start","start":5}'],
    ['whose stream could break out of a frame', startOf('CA1', 'M"}')],
  ])('a start %s is refused', (_, text) => {
    const dialect = twilioDialect({ signedMetadata: { [carrierKeys.callId]: 'CA1' } });
    expect(dialect.hear(text)).toMatchObject({ message: { type: 'start', fields: { ok: false } } });
  });

  it("media is the caller's audio; another track is not", () => {
    const payload = Buffer.from([1, 2, 255]).toString('base64');
    expect(say(open(), 'media', { media: { track: 'inbound', payload } })).toEqual({
      type: 'audio',
      bytes: Buffer.from([1, 2, 255]),
    });
    expect(say(open(), 'media', { media: { track: 'outbound', payload } })).toEqual({ type: 'nothing' });
    expect(say(open(), 'media', { media: { payload: 5 } })).toMatchObject({ message: { type: 'unknown' } });
  });

  it('dtmf is a key, stop a hang-up, anything else nothing', () => {
    expect(say(open(), 'dtmf', { dtmf: { digit: '5' } })).toMatchObject({
      message: { digit: { value: '5' } },
    });
    for (const dtmf of [{ digit: 'x' }, { digit: '12' }, { digit: 5 }, {}])
      expect(say(open(), 'dtmf', { dtmf })).toEqual({ type: 'nothing' });
    expect(say(open(), 'stop')).toMatchObject({ message: { type: 'stop' } });
    expect(say(open(), 'news')).toEqual({ type: 'nothing' });
    expect(open().hear('[]')).toMatchObject({ message: { type: 'not-json' } });
  });

  it('media of a stream that nobody opened, or of another one, is unknown', () => {
    const media = { event: 'media', media: { payload: '' } };
    const fresh = twilioDialect({ signedMetadata: {} });
    expect(fresh.hear(JSON.stringify({ ...media, streamSid: 'MZ1' }))).toMatchObject({
      message: { type: 'unknown' },
    });
    expect(open().hear(JSON.stringify({ ...media, streamSid: 'MZ2' }))).toMatchObject({
      message: { type: 'unknown' },
    });
  });

  it('marks come back in order; those that were cleared are forgotten, those after it are not', () => {
    const dialect = open();
    for (const id of ['a', 'b', 'c']) dialect.write(mark(id));
    expect(say(dialect, 'mark', { mark: { name: 'a' } })).toMatchObject({
      message: { type: 'mark', id: { value: 'a' } },
    });
    expect(dialect.write({ type: 'clear', epoch: 2 })).toBe('{"event":"clear","streamSid":"MZ1"}');
    dialect.write(mark('d'));
    expect(say(dialect, 'mark', { mark: { name: 'b' } })).toEqual({ type: 'nothing' });
    expect(say(dialect, 'mark', { mark: { name: 'c' } })).toEqual({ type: 'nothing' });
    expect(say(dialect, 'mark', { mark: { name: 'd' } })).toMatchObject({ message: { type: 'mark' } });
    expect(say(dialect, 'mark', { mark: { name: 'd' } })).toEqual({ type: 'nothing' });
  });

  it('goes on in another worker where it was', () => {
    const dialect = open();
    for (const id of ['a', 'b']) dialect.write(mark(id));
    dialect.write({ type: 'clear', epoch: 2 });
    dialect.write(mark('c'));
    const again = twilioDialect({ signedMetadata: {}, saved: JSON.parse(dialect.save()) as unknown });
    expect(again.kind).toBe(dialect.kind);
    expect(say(again, 'mark', { mark: { name: 'b' } })).toEqual({ type: 'nothing' });
    expect(say(again, 'mark', { mark: { name: 'c' } })).toMatchObject({ message: { type: 'mark' } });
    expect(again.writeAudio(Buffer.from([255]))).toBe(
      '{"event":"media","streamSid":"MZ1","media":{"payload":"/w=="}}',
    );
  });

  it('has no words for what a page is told', () => {
    const dialect = open();
    expect(dialect.write({ type: 'stop', reason: 'ended' })).toBeUndefined();
    expect(dialect.write({ type: 'error', code: 'overloaded', message: '', fatal: true })).toBeUndefined();
  });
});
