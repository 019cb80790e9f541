/** What is shown of a failure: vendors' words without keys and without callers, each cause once, with what to change. */
import { describe, expect, it } from 'vitest';
import { shownCode, shownVendorText } from '../../../shared/base/vendor-text.ts';
import { newLog as newProcessLog } from '../../../shared/runtime/log.ts';
import { adviceOn, type AdviceSite } from '../../../worker/stages/advice.ts';
import { causeIn, causeInText, causeOf, explained } from '../../../worker/stages/failure.ts';
import { tooSlow, toolFailure } from '../../../worker/tools/tool-failure.ts';
import { FailureLog, newFailureLog, shownFailure, type Failure } from '../../../worker/stages/failure-log.ts';
import type { StageError } from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const key = 'sk-proj-4f9aB7cD21eF88aa0011';

describe('a text of a vendor', () => {
  it.each([
    ['a known key', `Incorrect API key: ${key}.`],
    ['the beginning of one', `Incorrect API key provided: ${key.slice(0, 9)}.`],
    ['the end of one', `The key that ends in ${key.slice(-4)} was revoked.`],
    ['a key shown in part', 'Incorrect API key provided: sk-pr****0011.'],
    ['a key in an address', `See https://example.com/x?api_key=${key}&a=1`],
    ['a bearer', 'Bad header: Authorization: Bearer 0a1b2c3d4e'],
    ["somebody else's key", 'Key 0123456789abcdef0123456789abcdef01234567 is unknown.'],
    ['a token of JSON', 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc is expired'],
    ['an id that is a key elsewhere', 'Key 6a3c1b8e-0000-4000-8000-000000000001 is disabled.'],
    ['credentials in an address', 'cannot reach wss://user:hunter22@example.com/v1'],
  ])('is shown without %s', (_, text) => {
    const shown = shownVendorText(text, [key]);
    expect(shown).toContain('[hidden]');
    for (const part of [
      key,
      key.slice(0, 9),
      key.slice(-4),
      '0011',
      'hunter22',
      'eyJ',
      '0a1b2c3d4e',
      '4567',
      '0001',
    ])
      expect(shown).not.toContain(part);
  });

  it('is shown as it is where nothing of a caller could be in it', () => {
    const text = 'Nova-3 does not support language "xx" for project Acme.';
    expect(shownVendorText(text)).toBe(text);
  });

  it('is one short line without orders for a terminal', () => {
    const shown = shownVendorText(`bad\nrequest\u001b[31m ${'to the server '.repeat(99)}`);
    expect(shown.length).toBeLessThanOrEqual(240);
    expect(shown).not.toMatch(/[\u0000-\u001f]/);
  });

  it('has a code only where it is an identifier and no key', () => {
    expect(shownCode('invalid_api_key')).toBe('invalid_api_key');
    expect(shownCode('ECONNREFUSED')).toBe('ECONNREFUSED');
    expect(shownCode('my name is Zeynep')).toBeUndefined();
    expect(shownCode(key, [key])).toBeUndefined();
    expect(shownCode('0123456789abcdef0123456789abcdef')).toBeUndefined();
  });
});

describe('the body of a refusal', () => {
  it.each([
    [
      'OpenAI',
      { error: { message: 'Wrong.', type: 'invalid_request_error', code: 'invalid_api_key' } },
      'invalid_api_key',
      'Wrong.',
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'authentication_error', message: 'Wrong.' } },
      'authentication_error',
      'Wrong.',
    ],
    [
      'Gemini, in a list of one',
      [
        {
          error: {
            code: 400,
            message: 'Wrong.',
            status: 'INVALID_ARGUMENT',
            details: [{ reason: 'API_KEY_INVALID' }],
          },
        },
      ],
      'API_KEY_INVALID',
      'Wrong.',
    ],
    ['Deepgram', { err_code: 'INVALID_AUTH', err_msg: 'Wrong.', request_id: 'x' }, 'INVALID_AUTH', 'Wrong.'],
    ['AssemblyAI', { error_code: 1008, error: 'Wrong.' }, '1008', 'Wrong.'],
    [
      'Cartesia',
      { type: 'error', error_code: 'voice_not_found', title: 'No', message: 'Wrong.' },
      'voice_not_found',
      'Wrong.',
    ],
    ['ElevenLabs', { detail: { status: 'invalid_api_key', message: 'Wrong.' } }, 'invalid_api_key', 'Wrong.'],
    [
      'ElevenLabs in the stream',
      { error: 'quota_exceeded', message: 'Wrong.', code: 1008 },
      '1008',
      'Wrong.',
    ],
    ['FastAPI', { detail: [{ msg: 'Wrong.', type: 'missing' }] }, 'missing', 'Wrong.'],
    ['vLLM', { object: 'error', message: 'Wrong.', type: 'NotFoundError', code: 404 }, '404', 'Wrong.'],
    ['Ollama', { error: 'Wrong.' }, undefined, 'Wrong.'],
  ])('is read in the shape of %s', (_, body, code, text) => {
    expect(causeIn(body)).toEqual({ ...(code !== undefined && { code }), text });
  });

  it('is the words themselves where it is no JSON, and nothing where it is a page', () => {
    expect(causeInText('Unauthorized')).toEqual({ text: 'Unauthorized' });
    expect(causeInText('<html><h1>502</h1></html>')).toEqual({});
    expect(causeInText('')).toEqual({});
  });
});

describe('what lies beside an error', () => {
  it('is never in it, and is read redacted', () => {
    const cause = { code: 'bad_key', text: `No: ${key}` };
    const error = explained({ kind: 'rejected', status: 401 }, cause, { beforeCall: true });
    expect(JSON.stringify(error)).toBe('{"kind":"rejected","status":401}');
    expect(causeOf(error, [key])).toEqual({ code: 'bad_key', text: 'No: [hidden]' });
    expect(causeOf({ ...error }, [])).toEqual({});
  });

  it('is the code alone once the server was given something of a caller, which it may repeat', () => {
    const cause = { code: 'bad_value', text: "Invalid value: 'my name is Zeynep Arslan'" };
    expect(causeOf(explained({ kind: 'rejected', status: 400 }, cause), [])).toEqual({ code: 'bad_value' });
  });
});

describe('advice', () => {
  const site: AdviceSite = {
    keyAt: 'llm.api_key_env',
    keyVariable: 'LLM_KEY',
    chosenAt: ['llm.chat_compatible.model'],
    addressAt: 'llm.chat_compatible.base_url',
    host: 'api.example.com',
    isEncrypted: true,
  };
  const rejected = (status: number): StageError => ({ kind: 'rejected', status });
  const lost: StageError = { kind: 'disconnected' };
  it.each([
    ['401', rejected(401), undefined, /LLM_KEY \(llm\.api_key_env\)/],
    ['400 for a key', rejected(400), 'API_KEY_INVALID', /LLM_KEY/],
    ['403', rejected(403), undefined, /LLM_KEY.*allowed/],
    ['404', rejected(404), undefined, /llm\.chat_compatible\.model and llm\.chat_compatible\.base_url/],
    ['402', rejected(402), undefined, /billing/],
    ['429 without money', rejected(429), 'insufficient_quota', /billing/],
    ['429', rejected(429), undefined, /SVC_PROVIDER_LIMITS/],
    ['a redirect', rejected(308), undefined, /llm\.chat_compatible\.base_url/],
    ['a name that is none', lost, 'ENOTFOUND', /cannot be resolved.*base_url/],
    ['a closed port', lost, 'ECONNREFUSED', /nothing listens.*base_url/],
    ['TLS to a plain port', lost, 'ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS.*base_url/],
    ['a certificate of its own', lost, 'DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
    ['no answer', { kind: 'timeout', what: 'connect' } as const, undefined, /firewall/],
  ])('on %s says what to change', (_, error, code, advice) => {
    expect(adviceOn(error, { code }, site)).toMatch(advice);
  });

  it('asks for a key where none is named', () => {
    expect(adviceOn(rejected(401), {}, { ...site, keyVariable: undefined })).toMatch(
      /let llm\.api_key_env name/,
    );
  });

  it('is silent on what nobody here can change', () => {
    expect(adviceOn(rejected(503), {}, site)).toBeUndefined();
  });
});

describe('the log of failures', () => {
  const failure: Failure = { stage: 'llm', provider: 'p', host: 'h', reason: 'rejected 401', code: 'bad' };
  const newLog = () => {
    const clock = newVirtualClock();
    const told: [string, number][] = [];
    const over: number[] = [];
    const log = new FailureLog(
      clock,
      (found, times) => void told.push([found.code ?? '', times]),
      (_, times) => void over.push(times),
    );
    return { clock, told, over, log };
  };

  it('tells a cause once and counts it then, a line a minute', () => {
    const { clock, told, over, log } = newLog();
    for (let time = 0; time < 500; time += 1) log.note(failure);
    expect(told).toEqual([['bad', 1]]);
    clock.advance(60_000);
    expect(told).toEqual([
      ['bad', 1],
      ['bad', 499],
    ]);
    expect(over).toEqual([]);
    clock.advance(60_000);
    expect(over).toEqual([500]);
    log.note(failure);
    expect(told.at(-1)).toEqual(['bad', 1]);
    expect(told).toHaveLength(3);
  });

  it('tells causes apart, and keeps so many of them', () => {
    const { clock, told, log } = newLog();
    for (let code = 0; code < 1_000; code += 1) log.note({ ...failure, code: `c${code}` });
    expect(told).toHaveLength(128);
    expect(clock.pending).toBe(128);
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it("gives the process and the provider a field each in the log's JSON", () => {
    const lines: string[] = [];
    const to = { write: (line: string) => void lines.push(line) };
    const log = newProcessLog({ role: 'worker 0', level: 'warn', to });
    newFailureLog(newVirtualClock(), log).note({ ...failure, role: 'secondary' });
    expect(lines[0]?.match(/"role":/g)).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ role: 'worker 0', providerRole: 'secondary' });
  });

  it('tells of a tool that is slow as slow, and of a provider without an answer as failed', () => {
    const lines: { msg: string; advice?: string }[] = [];
    const to = { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) };
    const log = newFailureLog(newVirtualClock(), newProcessLog({ role: 'worker 0', level: 'warn', to }));
    const site = {
      stage: 'mcp',
      name: 'shop',
      addressAt: 'command of [[mcp]] shop',
      hasKey: false,
      secrets: [],
    } as const;
    log.note(toolFailure(site, tooSlow, 'find_order'));
    log.note(toolFailure({ ...site, stage: 'tool', name: 'book' }, tooSlow));
    log.note(toolFailure(site, { kind: 'disconnected' }));
    log.note({ ...failure, reason: 'timeout answer' });
    expect(lines.map(({ msg }) => msg)).toEqual([
      'a tool is slow',
      'a tool is slow',
      'a provider or server has failed',
      'a provider or server has failed',
    ]);
    expect(lines[0]?.advice).toMatch(/^find_order is slow, .* raise its timeout_ms$/);
    expect(lines[1]?.advice).toMatch(/^book is slow/);
    // A program that is slow to list its tools has neither ended nor another protocol.
    for (const what of ['protocol', 'listing'])
      expect(toolFailure(site, { kind: 'timeout', what }).advice).toMatch(
        /^shop is reached and answers too slowly/,
      );
    const web = { ...site, url: new URL('https://shop.example/mcp') };
    expect(toolFailure(web, { kind: 'timeout', what: 'connect' }).advice).toMatch(/firewall/);
  });

  it('says it in one line for people', () => {
    const line = shownFailure({ ...failure, vendor: 'Groq', text: 'No.', advice: 'check it' }, 3);
    expect(line).toBe('llm Groq (p) at h: rejected 401 (bad: No.); check it (3 times)');
  });
});
