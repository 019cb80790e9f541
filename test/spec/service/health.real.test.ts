/** The listener of probes and metrics (docs/operate/runbook.md), asked of the running service. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';

let service: TestService;
let shared: TestService | undefined;
const start = async (options: TestServiceOptions = {}): Promise<void> => {
  service = await TestService.start(options);
};
/** One service for all tests that ask nothing special of it and leave it as it was. */
const plain = async (): Promise<TestService> =>
  (service = shared ??= await TestService.start({ workers: 2, env: { SVC_MAX_SESSIONS: '7' } }));

afterEach(async () => {
  if (service !== shared) await service.stop();
});
afterAll(() => shared?.stop());

const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

describe('probes', () => {
  it('/healthz is 200; /readyz is 200 with counts only', async () => {
    await plain();
    const health = await service.get('/healthz');
    expect([health.status, await health.json()]).toEqual([200, { alive: 1 }]);
    const ready = await service.get('/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { ready: 1, sessions: 0, connections: 0, max_sessions: 7, workers: 2 },
    ]);
  });

  it('a query does not matter, another path is 404, another method 405', async () => {
    await plain();
    expect((await service.get('/healthz?from=balancer')).status).toBe(200);
    expect((await service.get('/')).status).toBe(404);
    const url = `http://${service.address('health')}/healthz`;
    const posted = await fetch(url, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });

  it('/readyz is 503 until every process is there, /healthz is 200 from the start', async () => {
    service = await TestService.launch();
    await service.says('listening', (line) => line['listener'] === 'health');
    expect((await service.get('/healthz')).status).toBe(200);
    const ready = await service.get('/readyz');
    expect([ready.status, await ready.json()]).toMatchObject([503, { ready: 0, starting: 1 }]);
    await service.says('ready');
    expect((await service.get('/readyz')).status).toBe(200);
  });
});

describe('/readyz while inference is silent', () => {
  it('is 503 after 2 s, until it shows a sign of life', async () => {
    await start({ env: { SVC_HANG_TIMEOUT: '10m' } });
    const [inference] = service.children('inference');
    process.kill(inference!, 'SIGSTOP');
    await service.readyWhen((body) => body['inference_silent'] === 1);
    expect((await service.get('/readyz')).status).toBe(503);
    expect((await service.get('/healthz')).status).toBe(200);
    process.kill(inference!, 'SIGCONT');
    await service.readyWhen((body) => body['ready'] === 1);
  });
});

describe('/metrics', () => {
  it('is Prometheus text that adds up the workers', async () => {
    await plain();
    for (let i = 0; i < 2; i += 1) {
      const calls = await Promise.all([service.call(), service.call()]);
      await Promise.all(calls.map((call) => call.hangUp()));
    }
    const answer = await service.get('/metrics');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = (await answer.text()).trimEnd().split('\n');
    const series = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const form = /^svc_[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [-+0-9.eNa]+$/;
    expect(series.filter((line) => !form.test(line))).toEqual([]);
    const types = lines.filter((line) => line.startsWith('# TYPE'));
    expect(new Set(types).size).toBe(types.length);
    expect(series).toContain('svc_calls_total{end="hangup"} 4');
    expect(series).toContain('svc_calls_active 0');
    expect(series).toContain('svc_workers_ready 2');
    expect(series).toContain('svc_inference_up 1');
  });

  it('answers while a worker hangs, without its share', async () => {
    await start({ workers: 2 });
    const [worker] = service.children('worker');
    process.kill(worker!, 'SIGSTOP');
    expect(await service.metric('svc_workers_ready')).toBe(2);
  });

  it('on loopback needs the token only when there is one', async () => {
    await start({ env: { SVC_METRICS_TOKEN: 'a-token-for-tests' } });
    const refused = await service.get('/metrics');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await service.get('/metrics', bearer('another'))).status).toBe(401);
    expect((await service.get('/metrics', bearer('a-token-for-tests'))).status).toBe(200);
    expect(JSON.stringify([service.log, service.text])).not.toContain('a-token-for-tests');
  });

  it('off loopback without a token is closed; probes stay open', async () => {
    await start({ env: { SVC_HEALTH_ADDR: '0.0.0.0:0' } });
    // Asked on loopback: the address of the listener decides.
    const refused = await service.get('/metrics');
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('SVC_METRICS_TOKEN'),
    ]);
    expect((await service.get('/metrics', bearer('anything'))).status).toBe(403);
    expect((await service.get('/healthz')).status).toBe(200);
    expect((await service.get('/readyz')).status).toBe(200);
  });

  it('off loopback needs the token', async () => {
    await start({ env: { SVC_HEALTH_ADDR: '0.0.0.0:0', SVC_METRICS_TOKEN: 'a-token-for-tests' } });
    expect((await service.get('/metrics')).status).toBe(401);
    expect((await service.get('/metrics', bearer('a-token-for-tests'))).status).toBe(200);
  });

  it('turned off is 404, also with the token, and not among what there is', async () => {
    const tokens = { SVC_METRICS_TOKEN: 'a-token-for-tests', SVC_LIVE_TOKEN: 'another-for-tests' };
    await start({ env: { SVC_METRICS: 'off', ...tokens } });
    const answer = await service.get('/metrics', bearer('a-token-for-tests'));
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { code: 'not_found', message: 'there is /healthz, /readyz, /live' },
    ]);
  });
});
