/** The carriers' own libraries judge what the service checks, and what it tells them to do. */
import { generateKeyPairSync, sign } from 'node:crypto';
import Telnyx from 'telnyx';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { TelnyxEvents, isSignedByB, publicKeyOf } from '../../../supervisor/telephony/telnyx/webhook.ts';
import { isSigned, signatureOf } from '../../../supervisor/telephony/twilio/signature.ts';
import {
  connectStream,
  dialConference,
  dialNumber,
  pause,
  playDigits,
  rejectBusy,
  response,
  say,
} from '../../../supervisor/telephony/twilio/twiml.ts';
import { outcomeOf, patient } from '../../../supervisor/telephony/rest.ts';
import { languagesOfA, languagesOfB } from '../../../supervisor/telephony/spoken-language.ts';

const token = 'test_auth_token_0123456789abcdef';

describe('carrier A, by its own library', () => {
  it.each([
    ['a form', 'https://voice.example.com/carrier_a/voice?x=1', { To: '+15550100002', Empty: '', From: 'ü' }],
    ['an upgrade', 'wss://voice.example.com/carrier_a/stream/abc', {}],
  ])('takes our signature over %s, and we take its', (_, url, form) => {
    const ours = signatureOf(url, Object.entries(form), token);
    expect(twilio.validateRequest(token, ours, url, form)).toBe(true);
    const theirs = twilio.getExpectedTwilioSignature(token, url, form);
    expect(isSigned(theirs, { url, parameters: Object.entries(form), token })).toBe(true);
  });

  const plain = (text: string): string => text.replaceAll('\n', '').replace(/^<\?xml[^>]*\?>/, '');

  it('writes the same instructions', () => {
    const cold = new twilio.twiml.VoiceResponse();
    cold.dial({ callerId: '+1555', answerOnBridge: true, timeout: 30 }).number('+15550100077');
    expect(plain(response(dialNumber('+15550100077', { callerId: '+1555', timeoutS: 30 })))).toBe(
      plain(cold.toString()),
    );
    const keys = new twilio.twiml.VoiceResponse();
    keys.play({ digits: '1w#' });
    const connected = keys.connect().stream({ url: 'wss://a.example/x' });
    connected.parameter({ name: 'agent_route', value: 'a<b' });
    expect(
      plain(response(playDigits('1w#'), connectStream('wss://a.example/x', { agent_route: 'a<b' }))),
    ).toBe(plain(keys.toString()));
    const busy = new twilio.twiml.VoiceResponse();
    busy.reject({ reason: 'busy' });
    expect(plain(response(rejectBusy))).toBe(plain(busy.toString()));
    const join = new twilio.twiml.VoiceResponse();
    join.say({ language: 'en-US' }, 'Tom & Co');
    join
      .dial()
      .conference({ startConferenceOnEnter: true, endConferenceOnExit: true, beep: 'false' }, 'svc-1');
    join.pause({ length: 120 });
    const ours = response(say('Tom & Co', 'en-US'), dialConference('svc-1', { starts: true }), pause(120));
    expect(plain(ours)).toBe(plain(join.toString()));
    // The summary is the model's text: its lines are not one word.
    expect(say('Refund of $20\n\tfor Tom', 'en-US')).toBe(say('Refund of $20 for Tom', 'en-US'));
  });

  it('speaks every language that we name, each once, and carrier B does so too', () => {
    // Their types judge; a tag that they do not have does not compile.
    const say = new twilio.twiml.VoiceResponse();
    for (const language of languagesOfA) say.say({ language }, 'x');
    const speaks: readonly NonNullable<Telnyx.Calls.ActionSpeakParams['language']>[] = languagesOfB;
    expect([new Set(languagesOfA).size, new Set(speaks).size]).toEqual([
      languagesOfA.length,
      languagesOfB.length,
    ]);
    expect(say.toString().match(/language=/g)?.length).toBe(languagesOfA.length);
  });
});

describe('carrier B, by its own library', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const key = publicKeyOf(raw);

  it('takes the webhooks that we take', async () => {
    const body = '{"data":{"event_type":"call.initiated","id":"e1","payload":{}}}';
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString('base64');
    const headers = { 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': timestamp };
    const client = new Telnyx({ apiKey: 'KEY' });
    await expect(client.webhooks.unwrap(body, { headers, key: raw })).resolves.toBeDefined();
    expect(isSignedByB(headers, Buffer.from(body), { key, nowS: Number(timestamp) })).toBe(true);
    expect(isSignedByB(headers, Buffer.from(`${body} `), { key, nowS: Number(timestamp) })).toBe(false);
  });

  it('the vector of its documents holds, within 300 s either way', () => {
    const own = publicKeyOf('6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=');
    const body = Buffer.from('{"data":{"event_type":"call.initiated","id":"e1"}}');
    const headers = {
      'telnyx-timestamp': '1893456000',
      'telnyx-signature-ed25519':
        '5yzow+6rrVuyXaMeG7tTFU2ZRM0jjVC57uxYDVWR/xA4E0i+gx8f8+kbBOz/8TGbPF+cld2EAmIBOVEi5c0uDw==',
    };
    const at = (nowS: number): boolean => isSignedByB(headers, body, { key: own, nowS });
    expect([at(1893456000 - 300), at(1893456000 + 300)]).toEqual([true, true]);
    expect([at(1893456000 - 301), at(1893456000 + 301)]).toEqual([false, false]);
  });

  it('an event counts once, and what is none is said to be none', () => {
    const events = new TelnyxEvents();
    const body = Buffer.from('{"data":{"event_type":"call.answered","id":"e1","payload":{"a":1}}}');
    expect(events.read(body)).toEqual({ type: 'call.answered', id: 'e1', payload: { a: 1 } });
    expect(events.read(body)).toBeUndefined();
    for (const bad of ['', '[]', '{"data":{"id":"x"}}'])
      expect(events.read(Buffer.from(bad))).toBe('unreadable');
  });
});

describe('what became of a command', () => {
  it.each([
    [200, { kind: 'ok' }],
    [400, { kind: 'refused', code: 'invalid_argument' }],
    [401, { kind: 'refused', code: 'unavailable' }],
    [404, { kind: 'refused', code: 'rejected' }],
    [408, { kind: 'unknown' }],
    [422, { kind: 'refused', code: 'rejected' }],
    [429, { kind: 'refused', code: 'unavailable' }],
    [500, { kind: 'unknown' }],
    [503, { kind: 'unknown' }],
  ])('status %i', (status, outcome) => {
    expect(outcomeOf({ kind: 'answered', status, body: undefined })).toEqual(outcome);
  });

  it.each([
    ['says when', 2, [2_000], 2],
    ['does not say when', undefined, [1_000], 2],
    ['wants to be left alone for longer than a caller waits', 3, [], 1],
  ])(
    'a carrier that is asked too much at once is asked once more, where it %s',
    async (_, retryAfterS, waits, times) => {
      const waited: number[] = [];
      let asked = 0;
      const ask = patient(
        () => {
          asked += 1;
          const when = retryAfterS === undefined ? {} : { retryAfterS };
          return Promise.resolve({ kind: 'answered', status: 429, body: undefined, ...when });
        },
        (ms) => Promise.resolve(void waited.push(ms)),
      );
      const request = { url: 'https://a.example/x', authorization: '', contentType: '', body: '' };
      expect(await ask(request)).toMatchObject({ status: 429 });
      expect([waited, asked]).toEqual([waits, times]);
    },
  );

  it('a connection that was never made is a refusal, one that broke is not', () => {
    expect(outcomeOf({ kind: 'unsent' })).toEqual({ kind: 'refused', code: 'unavailable' });
    expect(outcomeOf({ kind: 'lost' })).toEqual({ kind: 'unknown' });
  });
});
