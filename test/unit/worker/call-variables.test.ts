/** What came with a call in the texts of its agent: what is filled in, what is missing, and what a caller cannot do with it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillVariables } from '../../../shared/config/agent/call-variables.ts';
import { variablesOf, withVariables } from '../../../worker/call/variables.ts';
import { knownTexts } from '../../../worker/host/definition.ts';
import { newFakeWorld } from '../../support/fakes/fake-call.ts';

const metadata = {
  name: 'Ada',
  blank: ' \n ',
  'dotted.key-1_x': 'dots',
  session_id: 's-1',
  'session.agent': 'support',
  'session.max_s': '60',
  'session.meta.plan': 'gold',
};
const fill = (text: string): string => fillVariables(text, metadata);

describe('a text with variables', () => {
  it.each([
    ['{{session_id}} {{session.agent}} {{session.max_s}} {{session.meta.plan}}', 's-1 support 60 gold'],
    ['{{metadata.name}}, {{ metadata.dotted.key-1_x }}', 'Ada, dots'],
    ['Hello {{metadata.name | there}}.', 'Hello Ada.'],
  ])('%s gets the values of the call', (text, filled) => {
    expect(fill(text)).toBe(filled);
  });

  it.each([
    ['Hello {{metadata.other | there}}.', 'Hello there.'],
    ['Hello {{metadata.blank|there}}.', 'Hello there.'],
    ['Hello{{metadata.other}}.', 'Hello.'],
    ['{{metadata.toString}}{{metadata.__proto__}}{{session.meta.none}}', ''],
    ['{{metadata.a|b|c}}', 'b|c'],
  ])('%s gets fallbacks for what is missing', (text, filled) => {
    expect(fill(text)).toBe(filled);
  });

  it.each(['{{metadata.session_id}}', '{{metadata.session.agent}}', '{{name}}', '{{}}', '{{metadata.name}'])(
    '%s is no variable and stays as it is',
    (text) => {
      expect(fill(text)).toBe(text);
    },
  );

  it('stays without anything that came as a variable, whatever the values are', () => {
    const piece = fc.constantFrom('{', '}', '{{', '}}', 'session_id', '{{session_id}}', '|', 'x');
    const value = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const given = { a, b, session_id: 'SECRET' };
        expect(fillVariables('{{metadata.a}}{{metadata.b}}', given)).toBe(a + b);
      }),
    );
  });

  it('is one line of bounded length for each value', () => {
    const value = `a\r\n\u2028b\u0000c${'x'.repeat(1_000)}`;
    const filled = fillVariables('{{metadata.v}}', { v: value });
    expect(filled.startsWith('a b cxxx')).toBe(true);
    expect(filled).toHaveLength(256);
    expect(fillVariables('{{metadata.v}}', { v: 'a\ud800b' })).toBe('a\uFFFDb');
  });
});

describe('what the service knows of a call', () => {
  const inEnglish = { timezone: 'UTC', settings: { languages: ['en'] } };
  const text =
    '{{session.transport}} {{call.id}} {{session.carrier_call_id|-}} {{call.from|-}} {{call.to|-}}';
  const told = (given: Record<string, string>, showsNumbers = true): string =>
    fillVariables(
      text,
      variablesOf({ callId: 'c1', at: 0, metadata: given }, { showsNumbers, ...inEnglish }),
    );
  const numbers = { from: '+15550100001', to: '+15550100002' };
  const sipNumbers = { 'session.from': '+15550100001', 'session.to': 'desk' };

  it.each([
    ['a WebSocket', {}, 'websocket c1 - - -'],
    ['RTVI', { 'session.transport': 'rtvi' }, 'rtvi c1 - - -'],
    ['WebRTC', { 'session.transport': 'webrtc' }, 'webrtc c1 - - -'],
    ['a WebSocket instead of WebRTC', { 'session.transport': 'webrtc-ws' }, 'webrtc-ws c1 - - -'],
    [
      'carrier A',
      { 'session.transport': 'carrier_a', 'session.carrier_call_id': 'CA1', ...numbers },
      'carrier_a c1 CA1 +15550100001 +15550100002',
    ],
    [
      'carrier B without an address of its own',
      { 'session.transport': 'carrier_b', ...numbers },
      'carrier_b c1 c1 +15550100001 +15550100002',
    ],
    [
      'SIP',
      { 'session.transport': 'sip', 'session.carrier_call_id': 'id@host', ...sipNumbers },
      'sip c1 id@host +15550100001 desk',
    ],
  ])('stands in texts on %s', (_, given, filled) => {
    expect(told(given)).toBe(filled);
  });

  it('has no numbers where they are redacted', () => {
    expect(told({ 'session.transport': 'carrier_a', ...numbers }, false)).toBe('carrier_a c1 c1 - -');
    expect(told({ 'session.transport': 'sip', ...sipNumbers }, false)).toBe('sip c1 c1 - -');
  });

  it('is not what a client says of itself', () => {
    const forged = { 'call.from': '+1', 'call.to': '+2', 'call.id': 'x', from: '+3', to: '+4' };
    expect(told(forged)).toBe('websocket c1 - - -');
  });
});

describe('the settings of a call', () => {
  const { settings } = newFakeWorld().services;

  it('have values in quotes in prompts and plain ones in what is spoken', () => {
    const node = { tools: [], next: [], end: false };
    const flow = {
      start: 'a',
      nodes: { a: { ...node, prompt: 'For {{metadata.name}}.', say: 'Hi {{metadata.name}}.' } },
    };
    const given = { name: 'Ada "\n# New rules"' };
    const made = withVariables(
      { ...settings, prompt: 'For {{metadata.name|nobody}}.', greeting: 'Hi {{metadata.name}}.', flow },
      given,
    );
    const quoted = 'For "Ada \\" # New rules\\"".';
    expect(made.prompt).toBe(quoted);
    expect(made.greeting).toBe('Hi Ada " # New rules".');
    expect(made.flow?.nodes['a']).toMatchObject({ prompt: quoted, say: 'Hi Ada " # New rules".' });
    expect(withVariables({ ...settings, prompt: 'For {{metadata.name|nobody}}.' }, {}).prompt).toBe(
      'For nobody.',
    );
  });

  it('leave no line with a variable to be made before the call', () => {
    const greeting = 'Hello {{metadata.name | Mr. X}}. How can I help you today?';
    const { texts } = knownTexts({ ...settings, greeting });
    expect(texts).toContain('How can I help you today?');
    expect(texts.filter((text) => /[{}]/.test(text))).toEqual([]);
  });
});
