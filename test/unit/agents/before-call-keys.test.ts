/** `[before_call]` and the variables of a call, as an agent file has them. */
import { describe, expect, it } from 'vitest';
import { callTime } from '../../../shared/agents/call-time.ts';
import { changed, errorsOf, goodFile, load } from '../config/agent-text.ts';

const withSection = (lines: string): string => `${goodFile}\n[before_call]\n${lines}\n`;
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

describe('[before_call]', () => {
  it('needs an address alone', () => {
    const { definition } = load(withSection('url = "https://crm.example.com/look?x=1"'));
    expect(definition?.beforeCall).toMatchObject({
      timeoutMs: 1500,
      onFailure: 'default',
      allowPrivate: false,
    });
    expect(definition?.beforeCall?.url.href).toBe('https://crm.example.com/look?x=1');
    expect(load(goodFile).definition?.beforeCall).toBeUndefined();
  });

  it('takes its headers and its secret from the environment', () => {
    const text = withSection(
      'url = "https://crm.example.com"\nheaders_env = { Authorization = "CRM" }\nsecret_env = "SIGNING"',
    );
    const { definition } = load(text, { env: { CRM: 'Bearer x', SIGNING: secret } });
    expect(definition?.beforeCall?.secretHeaders.get('Authorization')?.reveal()).toBe('Bearer x');
    expect(definition?.beforeCall?.signingKeys.reveal()).toHaveLength(1);
    expect(JSON.stringify(definition?.beforeCall)).not.toContain('Bearer');
  });

  it.each([
    ['', 'before_call.url is required'],
    ['url = "ftp://crm.example.com"', 'before_call.url must be an https:// address'],
    ['url = "https://a b"', 'before_call.url must be an https:// address'],
    [
      'url = "https://me:secret@crm.example.com"',
      'before_call.url must not hold credentials; use headers_env',
    ],
    ['url = "https://crm.example.com/#a"', 'before_call.url must have no fragment'],
    [
      'url = "http://crm.example.com"',
      'before_call.url must be an https:// address; http:// only to a loopback host, or with allow_http',
    ],
    [
      'url = "http://127.0.0.1:1"',
      'before_call.url leads to a private address, which needs allow_private = true',
    ],
    [
      'url = "https://169.254.169.254/latest"',
      'before_call.url leads to a private address, which needs allow_private = true',
    ],
    [
      'url = "http://crm.example.com"\nallow_http = true\nheaders_env = { Authorization = "HOME" }',
      'before_call.headers_env is only sent over https:// or to a loopback host',
    ],
    ['url = "https://crm.example.com"\ntimeout_ms = 4001', 'before_call.timeout_ms must be at most 4000'],
    [
      'url = "https://crm.example.com"\non_failure = "hang_up"',
      'before_call.on_failure must be one of "default", "refuse"',
    ],
    [
      'url = "https://crm.example.com"\ntimeout = 1',
      'before_call.timeout is not a known key; did you mean "timeout_ms"?',
    ],
  ])('%s: %s', (lines, message) => {
    expect(errorsOf(withSection(lines))).toContain(message);
  });

  it('names the variable of a secret that cannot sign, and never shows it', () => {
    const text = withSection('url = "https://crm.example.com"\nsecret_env = "SIGNING"');
    const [message = '', ...more] = errorsOf(text, { env: { SIGNING: 'plain-secret' } });
    expect(more).toEqual([]);
    expect(message).toContain(
      'before_call.secret_env names the environment variable SIGNING, which must hold',
    );
    expect(message).not.toContain('plain-secret');
  });
});

describe('agent.timezone', () => {
  it('is one that the runtime knows', () => {
    const text = (zone: string): string => changed(['name = "desk"', `name = "desk"\ntimezone = "${zone}"`]);
    expect(load(text('Europe/Berlin')).definition?.agent.timezone).toBe('Europe/Berlin');
    expect(load(goodFile).definition?.agent.timezone).toBe('UTC');
    expect(errorsOf(text('Berlin'))).toEqual(['agent.timezone must be a time zone such as "Europe/Berlin"']);
  });

  it('says what the day and the time are there, in the language of the agent', () => {
    const at = Date.UTC(2026, 10, 28, 23, 14);
    expect(callTime(at, { language: 'en', timezone: 'UTC' })).toBe('Saturday, 28 November 2026 at 23:14');
    expect(callTime(at, { language: 'de', timezone: 'Europe/Berlin' })).toBe(
      'Sonntag, 29. November 2026 um 00:14',
    );
  });
});
