/** `[after_call]` of the agent file: what is right, and each rule. */
import { describe, expect, it } from 'vitest';
import { callEvents } from '../../../shared/calls/webhooks/events.ts';
import { errorsOf, goodFile, load } from '../config/agent-text.ts';

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const env = { HOOK: secret, OLD: secret, SHORT: 'whsec_c2hvcnQ=' };
const withSection = (text: string): string => `${goodFile}\n[after_call]\n${text}\n`;
const errors = (text: string): string[] => errorsOf(withSection(text), { env });

describe('[after_call]', () => {
  it('names endpoints with their events and secrets', () => {
    const { definition, problems } = load(
      withSection(`url = "https://example.com/hook?k=1"
secret_env = "HOOK"
secret_prev_env = "OLD"
record_url = "https://example.com/calls/{id}"
[[after_call.endpoints]]
url = "http://127.0.0.1:9000/"
secret_env = "HOOK"
events = ["call.failed"]
allow_private = true`),
      { env, requireSecrets: true },
    );
    expect(problems).toEqual([]);
    const { endpoints = [], recordUrl } = definition?.afterCall ?? {};
    expect(endpoints).toMatchObject([
      { url: 'https://example.com/hook?k=1', events: callEvents, allowPrivate: false },
      { url: 'http://127.0.0.1:9000/', events: ['call.failed'], allowPrivate: true },
    ]);
    expect(endpoints.map(({ secretEnv }) => secretEnv)).toEqual([['HOOK', 'OLD'], ['HOOK']]);
    expect(recordUrl).toBe('https://example.com/calls/{id}');
    expect(JSON.stringify(definition)).not.toContain(secret);
  });

  it.each([
    ['url = "https://example.com/"', 'after_call.secret_env is required beside after_call.url'],
    [
      'url = "ftp://example.com/"\nsecret_env = "HOOK"',
      'after_call.url must be an http:// or https:// address',
    ],
    [
      'url = "http://example.com/"\nsecret_env = "HOOK"',
      'after_call.url must be an https:// address, unless the host is loopback or allow_http is true',
    ],
    [
      'url = "https://localhost/"\nsecret_env = "HOOK"',
      'after_call.url leads to a private address, which needs allow_private = true',
    ],
    [
      'url = "https://me:secret@example.com/"\nsecret_env = "HOOK"',
      'after_call.url must not hold credentials: receivers check the signature',
    ],
    [
      'url = "https://example.com/"\nsecret_env = "SHORT"',
      'after_call.secret_env names the environment variable SHORT, which must hold whsec_ and 24 to 64 bytes in base64',
    ],
    [
      'url = "https://example.com/"\nsecret_env = "HOOK"\nevents = ["call.over"]',
      'after_call.events[0] must be one of "call.started", "call.ended", "call.analyzed", "call.failed"',
    ],
    ['endpoints = 1', 'after_call.endpoints must be at most 8 tables written [[after_call.endpoints]]'],
    ['record_url = "nowhere"', 'after_call.record_url must be an address'],
  ])('refuses %j', (text, message) => expect(errors(text)).toEqual([message]));

  it('names the key that is meant, and a variable that is not set', () => {
    expect(errors('uri = "https://example.com/"')[0]).toMatch(
      /^after_call\.uri is not a known key; did you mean "url"/,
    );
    const text = withSection('url = "https://example.com/"\nsecret_env = "UNSET"');
    expect(load(text).problems).toMatchObject([{ severity: 'warning' }]);
    expect(errorsOf(text, { requireSecrets: true })).toEqual([
      'after_call.secret_env names the environment variable UNSET, which is not set',
    ]);
  });
});

describe('[privacy]', () => {
  const privacy = (text: string): string => `${goodFile}\n[privacy]\n${text}\n`;

  it('names what is taken out, in the languages of the call', () => {
    const { definition, problems } = load(
      privacy('redact = ["card", "iban"]\npatterns = { customer = "K[0-9]+" }'),
    );
    expect(problems).toEqual([]);
    expect(definition?.privacy).toEqual({
      redact: ['card', 'iban'],
      patterns: { customer: 'K[0-9]+' },
      hideFromLlm: false,
      languages: ['en'],
    });
  });

  it.each([
    ['redact = ["cards"]', 'privacy.redact[0] must be one of "card", "iban", "email", "phone", "digits"'],
    [
      'patterns = { Customer = "K" }',
      'privacy.patterns.Customer is not a valid name here: it must be small letters, digits and _',
    ],
    [
      'patterns = { a = "(?=a)b" }',
      'privacy.patterns.a must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
    ],
    ['patterns = { a = "x*" }', 'privacy.patterns.a must not match an empty text'],
    ['patterns = { a = "(" }', 'privacy.patterns.a must be a regular expression of JavaScript'],
    [
      'redact = ["card"]\n[recording]\nfacts = true',
      'recording.facts and [privacy] exclude each other: facts are kept word for word',
    ],
  ])('refuses %j', (text, message) => expect(errorsOf(privacy(text))).toEqual([message]));

  it('says that it does nothing', () =>
    expect(load(privacy('')).problems).toMatchObject([
      { severity: 'warning', message: 'privacy takes nothing out: set redact or patterns' },
    ]));
});

describe('a recording that is paused', () => {
  const nodes = (record: boolean): string =>
    `[flow]\nstart = "a"\n[flow.nodes.a]\nprompt = "Ask for the card."\nrecord = ${record}\n`;
  const recording = (text: string): string => `${goodFile}\n[recording]\n${text}\n`;
  const flowing = (text: string, record: boolean): string =>
    `${recording(text).replace(/^prompt = .*$/m, '')}${nodes(record)}`;
  const pausing = recording('').replace('[agent]', '[agent]\ntools = ["pause_recording"]');

  it('may be so by a tool or in a node, where sound or a transcript is kept', () => {
    expect(errorsOf(flowing('audio = true', false))).toEqual([]);
    expect(errorsOf(`${pausing}transcript = true`)).toEqual([]);
  });

  it('has no facts, and is there', () => {
    const rule =
      'names pause_recording, which needs recording.audio or recording.transcript, without recording.facts';
    expect(errorsOf(`${pausing}audio = true\nfacts = true`)).toEqual([`agent.tools[0] ${rule}`]);
    expect(errorsOf(flowing('facts = true', true))).toEqual([]);
    expect(errorsOf(flowing('facts = true', false))).toEqual([
      'recording.facts and record = false of a node exclude each other: facts are kept word for word',
    ]);
  });
});
