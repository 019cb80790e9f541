/** The server of `[before_call]` on a real socket: what it is sent, and what becomes of a call when it is slow, down, lying or hostile. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../shared/auth/webhook-signature.ts';
import { Sensitive } from '../../shared/config/sensitive.ts';
import type { BeforeCallDefinition } from '../../shared/agents/before-call.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newWorkerMetrics } from '../../shared/runtime/metrics.ts';
import { LookUps } from '../../worker/agents/look-up.ts';
import type { Failure } from '../../worker/stages/failure-log.ts';

interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (response: ServerResponse, attempt: number, request: IncomingMessage) => void;

let server: Server | undefined;
const opened: LookUps[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function serve(answer: Answer): Promise<{ readonly port: number; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      answer(response, asked.length, request);
    });
  });
  await new Promise<void>((resolve) => {
    server?.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

const json =
  (value: unknown): Answer =>
  (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(value));
  };

const key = Buffer.alloc(32, 1);

function lookUps(port: number, changes: Partial<BeforeCallDefinition> = {}, showsNumbers = true) {
  const failures: Failure[] = [];
  const metrics = newWorkerMetrics();
  const definition: BeforeCallDefinition = {
    url: new URL(`http://127.0.0.1:${port}/look?x=1`),
    secretHeaders: new Map([['authorization', new Sensitive('Bearer abc')]]),
    signingKeys: new Sensitive([key]),
    ...{ timeoutMs: 4_000, onFailure: 'default', allowPrivate: true },
    ...changes,
  };
  const one = new LookUps(definition, {
    ...{ clock: systemClock, wallClock: { now: () => 1_700_000_000_500 }, metrics, showsNumbers },
    ...{ failures: { note: (failure) => void failures.push(failure) }, agent: 'desk' },
  });
  opened.push(one);
  return { ask: one.ask, failures, metrics };
}

const start = {
  ...{ callId: 'CA1', sessionId: 's1', at: 0, sampleRate: 8_000, encoding: 'mulaw' as const },
  metadata: {
    ...{ 'session.transport': 'carrier_a', 'session.carrier_call_id': 'CA1', session_id: 's1' },
    ...{ 'session.agent': 'desk', 'session.meta.plan': 'gold', 'session.direction': 'outbound' },
    ...{ from: '+15550100001', to: '+15550100002', campaign: 'spring' },
  },
};

describe('what the server is asked', () => {
  it('names the call, its numbers and what came with it, signed byte for byte', async () => {
    const { port, asked } = await serve(json({}));
    const { ask } = lookUps(port);
    expect(await ask(start)).toEqual({ kind: 'answered', answer: { variables: {}, problems: [] } });
    const [{ headers, body }] = asked as [Asked];
    expect(JSON.parse(body)).toEqual({
      type: 'call.before',
      timestamp: '2023-11-14T22:13:20.500Z',
      data: {
        ...{ call_id: 'CA1', session_id: 's1', transport: 'carrier_a', agent: 'desk', direction: 'outbound' },
        ...{ from: '+15550100001', to: '+15550100002', metadata: { campaign: 'spring' } },
        session: { sid: 's1', agent: 'desk', meta: { plan: 'gold' } },
      },
    });
    const id = String(headers['webhook-id']);
    expect(id).toMatch(/^msg_[^.]+$/);
    expect(headers).toMatchObject({
      ...webhookHeaders({ id, atS: 1_700_000_000, body }, [key]),
      ...{ authorization: 'Bearer abc', 'content-type': 'application/json' },
    });
  });

  it('holds no numbers where they are redacted', async () => {
    const { port, asked } = await serve(json({}));
    await lookUps(port, {}, false).ask(start);
    expect(asked[0]?.body).not.toContain('5550100');
  });
});

describe('what it answers', () => {
  it('is taken part by part, and what is wrong is told by key and rule', async () => {
    const long = 'x'.repeat(257);
    const { port } = await serve(
      json({
        variables: { name: 'Ada', visits: 3, vip: true, id: 'other', 'a b': 'x', list: [1], long },
        ...{ overrides: 'none', agent: '../other', unknown: 1 },
      }),
    );
    const found = await lookUps(port).ask(start);
    expect(found).toEqual({
      kind: 'answered',
      answer: {
        variables: { name: 'Ada', visits: '3', vip: 'true' },
        problems: [
          'agent must be 1 to 64 letters, digits, _ or -',
          'overrides must be an object',
          "variables.id is the service's own",
          'a name in variables must be 1 to 64 letters, digits, _, . or -',
          'variables.list must be a text, a number, true or false',
          'variables.long must have at most 256 characters',
        ],
      },
    });
  });

  it('takes null for what is absent', async () => {
    const { port } = await serve(
      json({ variables: { name: 'Ada', plan: null }, overrides: null, agent: null }),
    );
    expect(await lookUps(port).ask(start)).toEqual({
      kind: 'answered',
      answer: { variables: { name: 'Ada' }, problems: [] },
    });
  });

  it('keeps every digit, and at most so many variables', async () => {
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`v${at}`, at]));
    const { port } = await serve((response) => {
      response.end(`{"variables":{"big":12345678901234567890,${JSON.stringify(many).slice(1)}}`);
    });
    const found = await lookUps(port).ask(start);
    expect(found.kind === 'answered' && Object.keys(found.answer.variables)).toHaveLength(64);
    expect(found).toMatchObject({ answer: { variables: { big: '12345678901234567890' } } });
  });

  it('may be nothing at all', async () => {
    const { port } = await serve((response) => {
      response.statusCode = 204;
      response.end();
    });
    expect(await lookUps(port).ask(start)).toMatchObject({ kind: 'answered' });
  });
});

describe('a server that fails', () => {
  it('is asked once more where the connection broke, with the same id', async () => {
    const { port, asked } = await serve((response, attempt, request) => {
      if (attempt === 1) request.socket.destroy();
      else json({ variables: { name: 'Ada' } })(response, attempt, request);
    });
    expect(await lookUps(port).ask(start)).toMatchObject({ answer: { variables: { name: 'Ada' } } });
    expect(asked).toHaveLength(2);
    expect(asked[0]?.headers['webhook-id']).toBe(asked[1]?.headers['webhook-id']);
  });

  it('is asked no third time', async () => {
    const { port, asked } = await serve((_, __, request) => request.socket.destroy());
    const { ask, failures } = lookUps(port);
    expect(await ask(start)).toEqual({ kind: 'failed', refuse: false });
    expect(asked).toHaveLength(2);
    expect(failures).toMatchObject([{ stage: 'before_call', provider: 'desk' }]);
  });

  it.each<readonly [string, Answer, string]>([
    ['says 500', (response) => response.writeHead(500).end('{}'), 'rejected 500'],
    ['says 404', (response) => response.writeHead(404).end('{}'), 'rejected 404'],
    ['sends it elsewhere', (response) => response.writeHead(307, { location: '/other' }).end(), 'protocol'],
    ['says no JSON', (response) => response.end('<html>'), 'protocol'],
    ['says a list', json([]), 'protocol'],
    ['says null', json(null), 'protocol'],
    ['says a number', json(7), 'protocol'],
    [
      'is nested deeply',
      (response) => response.end(`${'['.repeat(30_000)}${']'.repeat(30_000)}`),
      'protocol',
    ],
    ['says too much', (response) => response.end(`{"a":"${'x'.repeat(70_000)}"}`), 'protocol'],
    ['packs it', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'), 'protocol'],
  ])('one that %s is asked once, and the call begins without it', async (_, answer, reason) => {
    const { port, asked } = await serve(answer);
    const { ask, failures } = lookUps(port);
    expect(await ask(start)).toEqual({ kind: 'failed', refuse: false });
    expect(asked).toHaveLength(1);
    expect(failures.map((failure) => failure.reason)).toEqual([reason]);
  });

  it.each<readonly [string, Answer]>([
    ['never answers', () => undefined],
    ['stops in the middle of its answer', (response) => void response.writeHead(200).write('{"variables":')],
    [
      'drips',
      (response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('one that %s is waited for no longer than the file says', async (_, answer) => {
    const { port } = await serve(answer);
    const { ask, failures } = lookUps(port, { timeoutMs: 100, onFailure: 'refuse' });
    expect(await ask(start)).toEqual({ kind: 'failed', refuse: true });
    expect(failures).toMatchObject([{ reason: 'timeout answer' }]);
  });

  it('one that is not there is told, and never shown a key', async () => {
    const { ask, failures, metrics } = lookUps(1, { onFailure: 'refuse' });
    expect(await ask(start)).toEqual({ kind: 'failed', refuse: true });
    expect(failures).toMatchObject([{ code: 'ECONNREFUSED', host: '127.0.0.1:1' }]);
    expect(JSON.stringify(failures)).not.toContain('Bearer');
    const { values } = await metrics.beforeCalls.get();
    expect(values).toMatchObject([{ labels: { outcome: 'refused' }, value: 1 }]);
  });

  it.each(['http://127.0.0.1', 'http://localhost', 'http://[::1]', 'http://0x7f000001', 'http://2130706433'])(
    'a private address is not asked without leave: %s',
    async (address) => {
      const { port, asked } = await serve(json({}));
      const url = new URL(`${address}:${port}/`);
      const { ask, failures } = lookUps(port, { url, allowPrivate: false });
      expect(await ask(start)).toEqual({ kind: 'failed', refuse: false });
      expect(asked).toEqual([]);
      expect(failures).toMatchObject([{ rule: 'a public address' }]);
    },
  );
});
