import { describe, it, expect } from 'vitest';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';
import { runToken } from '../../../cli/commands/token-command.ts';

const secret = 'the canary secret of the command line';
const previous = 'the canary secret that was used before';
const nowS = 1_800_000_000;

function run(args: string[], given: { env?: Readonly<Record<string, string>>; atS?: number } = {}) {
  const { env = { SVC_SESSION_SECRET: secret }, atS = nowS } = given;
  const [lines, errors]: [string[], string[]] = [[], []];
  const status = runToken(args, {
    env,
    nowS: atS,
    newId: () => 'new-id',
    write: (line) => void lines.push(line),
    writeError: (line) => void errors.push(line),
  });
  expect([...lines, ...errors].join('\n')).not.toContain('canary');
  return { status, lines, errors };
}

describe('token mint', () => {
  it('prints a token and nothing else', () => {
    const { status, lines } = run([
      'mint',
      '--aud',
      'svc-ws',
      '--ttl',
      '90',
      '--agent=a',
      '--max-s',
      '60',
      '--meta',
      'k=v=w',
      '--meta',
      'x=',
    ]);
    expect(status).toBe(0);
    expect(lines).toHaveLength(1);
    expect(verifySessionToken(lines[0]!, { secrets: [secret], audience: 'svc-ws', nowS })).toEqual({
      ok: true,
      value: {
        aud: 'svc-ws',
        expS: nowS + 90,
        nbfS: 0,
        sid: 'new-id',
        agent: 'a',
        maxS: 60,
        meta: new Map([
          ['k', 'v=w'],
          ['x', ''],
        ]),
      },
    });
  });

  it.each([
    [[], /--aud must be one of/],
    [['--aud', 'svc-sip'], /--aud must be one of/],
    [['--aud', 'svc-ws', '--ttl', '1m'], /--ttl must be whole seconds/],
    [['--aud', 'svc-ws', '--ttl', '86401'], /TTL must be whole seconds from 1 to 86400/],
    [['--aud', 'svc-ws', '--max-s', '0'], /max_s must be from 1 to 86400/],
    [['--aud', 'svc-ws', '--max-s', 'x'], /--max-s must be/],
    [['--aud', 'svc-ws', '--meta', 'canary'], /--meta must be KEY=VALUE/],
    [['--aud', 'svc-ws', '--meta', '=canary'], /--meta must be KEY=VALUE/],
    [['--aud', 'svc-ws', '--meta', 'a=1', '--meta', 'a=2'], /a key twice/],
    [['--aud', 'svc-ws', '--secret', 'canary'], /unknown option --secret/],
    [['--aud', 'svc-ws', 'canary'], /too many arguments/],
    [['--aud', 'svc-ws', '--sid', ''], /--sid: needs a value/],
  ])('refuses %j', (args, rule) => {
    const { status, lines, errors } = run(['mint', ...args]);
    expect(status).toBe(2);
    expect(lines).toEqual([]);
    expect(errors.join('\n')).toMatch(rule);
  });

  it('needs the secret, and a long one', () => {
    expect(run(['mint', '--aud', 'svc-ws'], { env: {} }).errors).toEqual(['SVC_SESSION_SECRET must be set']);
    const short = run(['mint', '--aud', 'svc-ws'], { env: { SVC_SESSION_SECRET: 'canary' } });
    expect(short.errors).toEqual(['SVC_SESSION_SECRET must have at least 32 bytes']);
  });
});

describe('token inspect', () => {
  it('prints what the token says, who signed it and the time left, without control characters', () => {
    const args = ['mint', '--aud', 'svc-ws', '--sid', 'a\u202eb', '--agent', 'c\u009b31m', '--meta', 'k=v'];
    const token = run(args).lines[0]!;
    expect(run(['inspect', token], { atS: nowS + 5 })).toEqual({
      status: 0,
      lines: [
        'aud: "svc-ws"',
        'sid: "a\\u{202e}b"',
        'agent: "c\\u{9b}31m"',
        'meta "k": "v"',
        'signature: SVC_SESSION_SECRET',
        'time: 55 s left',
      ],
      errors: [],
    });
  });

  const token = run(['mint', '--aud', 'svc-ws']).lines[0]!;

  it.each([
    [
      { SVC_SESSION_SECRET: previous, SVC_SESSION_SECRET_PREV: secret },
      'signature: SVC_SESSION_SECRET_PREV',
      0,
    ],
    [{ SVC_SESSION_SECRET_PREV: secret }, 'signature: SVC_SESSION_SECRET_PREV', 0],
    [{ SVC_SESSION_SECRET: previous }, 'signature: not valid', 1],
    [{}, 'signature: not checked, no secret is set', 1],
  ])('with other secrets (%#)', (env, line, status) => {
    const result = run(['inspect', token], { env });
    expect(result.lines).toContain(line);
    expect(result.status).toBe(status);
  });

  it.each([
    [nowS + 60, /^time: expired 0 s ago, still taken within 30 s$/, 0],
    [nowS + 90, /^time: expired 30 s ago$/, 1],
    [nowS - 100_000, /^time: expires in 100060 s, which is too long$/, 1],
  ])('at %d', (atS, line, status) => {
    const result = run(['inspect', token], { atS });
    expect(result.lines.at(-1)).toMatch(line);
    expect(result.status).toBe(status);
  });

  it.each(['canary', `v1.${'canary'.repeat(1000)}`, 'v1.Y2FuYXJ5.AAAA'])('refuses %s', (text) => {
    const result = run(['inspect', text]);
    expect(result.status).toBe(1);
    expect(result.errors).toHaveLength(1);
  });
});

describe('token', () => {
  it('refuses arguments that it cannot read', () => {
    for (const args of [['mint', '--ttl'], ['inspect'], ['inspect', 'a', 'b']])
      expect(run(args).status).toBe(2);
  });

  it('writes errors with everything else where there is one output alone', () => {
    const lines: string[] = [];
    runToken(['inspect'], { env: {}, nowS, newId: () => 'x', write: (line) => void lines.push(line) });
    expect(lines).toHaveLength(1);
  });
});
