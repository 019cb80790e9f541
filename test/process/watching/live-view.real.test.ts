/** Operators look at running calls, end one, and run a recorded one again. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { LiveState } from '../../../shared/protocol/live.ts';
import { chromiumMissing, openChromium } from '../../support/chromium.ts';
import { TestService } from '../../support/process/service.ts';

const program = fileURLToPath(new URL('../../../dist/supervisor/cli.js', import.meta.url));
const token = 'a-token-of-an-operator';
const bearer = { authorization: `Bearer ${token}` };

let service: TestService;
let folder = '';

afterEach(async () => {
  await service.stop();
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
  folder = '';
});

/** A command of the service, run to its end. */
const run = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env: { ...process.env, ...env } }, (error, out, err) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, text: out + err }),
    );
  });

const post = (path: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`http://${service.address('health')}${path}`, { method: 'POST', headers });

describe('the live view', () => {
  it('is not there without a token in the settings', async () => {
    service = await TestService.start();
    expect((await service.get('/live')).status).toBe(404);
    expect((await service.get('/live/state', bearer)).status).toBe(404);
  });

  it('shows who calls and who speaks to whoever has the token, and ends a call', async () => {
    service = await TestService.start({
      greeting: 'Good morning to you. '.repeat(8),
      env: { SVC_LIVE_TOKEN: token },
    });
    expect((await service.get('/live/state')).status).toBe(401);
    expect((await service.get('/live/state', { authorization: 'Bearer wrong' })).status).toBe(401);
    const page = await service.get('/live');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('<title>Live calls</title>');

    const caller = await service.call({ callId: 'order/7' });
    await caller.next(({ type }) => type === 'audio');
    const state = (await (await service.get('/live/state', bearer)).json()) as LiveState;
    expect(state).toMatchObject({ agent: 'test', ready: true, sessions: 1 });
    expect(state.calls).toMatchObject([{ call: caller.callId, speaker: 'agent', turns: 0, worker: 0 }]);
    expect(state.workers).toMatchObject([{ worker: 0, calls: 1 }]);
    expect(state.providers.map(({ stage, breaker }) => `${stage} ${breaker}`)).toEqual([
      'stt closed',
      'llm closed',
      'tts closed',
    ]);
    const top = await run(['top', '--once', '--url', `http://${service.address('health')}`], {
      SVC_LIVE_TOKEN: token,
    });
    expect(top.status).toBe(0);
    expect(top.text).toMatch(new RegExp(`${caller.callId}\\s+0:0\\d\\s+agent\\s+0\\s+-`));
    expect(
      await run(['top', '--once', '--url', `http://${service.address('health')}`], { SVC_LIVE_TOKEN: 'no' }),
    ).toEqual({
      status: 1,
      text: 'SVC_LIVE_TOKEN is not the token of the service\n',
    });

    const end = `/live/calls/${encodeURIComponent(caller.callId)}/end`;
    expect((await post(end, {})).status).toBe(401);
    expect((await post('/live/calls/other/end', bearer)).status).toBe(404);
    expect((await post(`${end}?by=Maria%20K.`, bearer)).status).toBe(202);
    const audits = service.log.filter(({ audit }) => audit === true);
    expect(audits).toMatchObject([
      { msg: 'an operator is refused', code: 'unauthorized' },
      { msg: 'an operator and a call', call: 'other', what: 'ends', may: 'live', code: 'no_such_call' },
      { msg: 'an operator and a call', call: caller.callId, what: 'ends', may: 'live', by: 'Maria K.' },
    ]);
    expect(await caller.closed).toMatchObject({ code: 1000, reason: 'ended' });
  });

  it.skipIf(chromiumMissing !== undefined)(
    `keeps its rows in place from look to look, and ends the call that was asked about ${chromiumMissing ?? ''}`,
    async () => {
      service = await TestService.start({ env: { SVC_LIVE_TOKEN: token } });
      const callers = [await service.call(), await service.call()];
      const [, second] = callers;
      const chromium = await openChromium('/dev/null');
      onTestFinished(() => chromium.close());
      const { page } = chromium;
      const questions: string[] = [];
      page.on('dialog', (dialog) => {
        questions.push(dialog.message());
        void dialog.accept();
      });
      await page.goto(`http://${service.address('health')}/live`);
      await page.getByLabel('Token').fill(token);
      await page.keyboard.press('Enter');
      const end = page.getByRole('button', { name: `End call ${second?.callId}` });
      await end.focus();
      // The age tells that the page has looked again.
      const age = page.locator('#calls tr:nth-child(2) td:nth-child(2)');
      const before = await age.textContent();
      await expect.poll(() => age.textContent(), { timeout: 30_000 }).not.toBe(before);
      await page.keyboard.press('Enter');
      expect(await second?.closed).toMatchObject({ code: 1000, reason: 'ended' });
      await end.waitFor({ state: 'detached' });
      expect(questions).toEqual([`End call ${second?.callId}?`]);
      expect(await page.locator('#calls tr').count()).toBe(1);
      await callers[0]?.hangUp();
    },
  );
});

describe('svc-supervisor replay', () => {
  it('finds the same orders in a recorded call, and shows where another agent differs', async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-replay-'));
    const env = { SVC_RECORDING_DIR: folder };
    service = await TestService.start({ greeting: 'Good morning.', agent: '[recording]\nfacts = true', env });
    const caller = await service.call();
    await caller.next(({ type }) => type === 'mark-played');
    await caller.hangUp();
    await service.counted('svc_recordings_total{what="finished"}', 1);
    const same = await run(['replay', caller.callId], env);
    expect(same.text).toMatch(/agent test: \d+ steps, every order the same/);
    expect(same.status).toBe(0);

    const other = join(folder, 'other.toml');
    writeFileSync(other, service.providers.agentText({ greeting: 'Good evening.' }));
    const differs = await run(['replay', caller.callId, '--agent', other], env);
    expect(differs.status).toBe(1);
    expect(differs.text).toMatch(/- .*Good morning\./);
    expect(differs.text).toMatch(/\+ .*Good evening\./);
    const none = await run(['replay', 'nowhere'], env);
    expect(none.status).toBe(2);
    expect(none.text).toMatch(/^there are no facts of a call nowhere in SVC_RECORDING_DIR: .* facts = true/);

    const [day = ''] = readdirSync(join(folder, 'kept'));
    const whole = readFileSync(join(folder, 'kept', day, caller.callId, 'facts.jsonl.gz'));
    const cut = join(folder, 'cut.jsonl.gz');
    writeFileSync(cut, whole.subarray(0, whole.length - 100));
    expect((await run(['replay', cut], {})).text).toMatch(/every order the same[^]*ends in the middle/);
    writeFileSync(cut, 'no gzip');
    expect(await run(['replay', cut], {})).toEqual({
      status: 2,
      text: `${cut} cannot be replayed: it is damaged, or was not compressed by gzip\n`,
    });
  });
});
