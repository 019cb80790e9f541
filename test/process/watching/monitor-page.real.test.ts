/** Operators in a real browser: the live page plays a call, whispers, and takes it over with the browser's microphone. */
import { violationsOf } from '../../support/accessible.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { writeWav } from '../../../shared/audio/wav.ts';
import { chromiumMissing, openChromium, type ChromiumPage } from '../../support/chromium.ts';
import { loudMs } from '../../support/process/operator.ts';
import { TestService } from '../../support/process/service.ts';

const env = {
  SVC_LIVE_TOKEN: 'live-token',
  SVC_MONITOR_TAKE_OVER_TOKEN: 'take-over-token',
  SVC_SPARE_WORKER: 'on',
};

describe.skipIf(chromiumMissing !== undefined)(
  `the live page of an operator ${chromiumMissing ?? ''}`,
  () => {
    let folder = '';
    let service: TestService;
    let chromium: ChromiumPage;
    let question: Int16Array;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'svc-operator-'));
      const flite = await loadFlite();
      const speak = (text: string): Int16Array => flite(text, { voice: 'slt', speed: 1 });
      question = speak('Could you tell me what time it is, please?');
      const voice = speak('Hello, my name is Maria, and I am a person. '.repeat(12));
      writeFileSync(join(folder, 'operator.wav'), writeWav(voice, 16_000));
      service = await TestService.start({ workers: 2, env, turn: 'speculate = false' });
      chromium = await openChromium(join(folder, 'operator.wav'), { context: { bypassCSP: false } });
    }, 60_000);

    afterAll(async () => {
      await chromium.close();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('listens, whispers, takes over through the death of a worker, and hands back', async () => {
      const { page } = chromium;
      const { stt, llm } = service.providers;
      const failures: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && !/WebSocket|401/.test(message.text()))
          failures.push(message.text());
      });
      const caller = await service.call({ callId: 'desk' });
      await page.goto(`http://${service.address('health')}/live`);
      await page.getByLabel('Token', { exact: true }).fill('live-token');
      await page.getByLabel('Token for listening').fill('take-over-token');
      await page.getByLabel('Your name').fill('Maria');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: `Listen to call ${caller.callId}` }).click();
      const state = page.locator('#monitor-state');
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You are listening');

      await page.getByLabel('Whisper to the agent').fill('Offer tea.');
      await page.keyboard.press('Enter');
      stt.utterances.push('what time is it');
      await caller.say(question);
      const said = page.getByRole('log');
      await expect.poll(() => said.textContent(), { timeout: 20_000 }).toContain('Agent: All right.');
      expect(await said.textContent()).toContain('Caller: what time is it');
      expect(JSON.stringify(llm.requests.at(-1)?.body)).toContain('Offer tea.');
      await caller.next(({ type }) => type === 'mark-played');

      await page.getByRole('button', { name: 'Take over' }).click();
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You speak to the caller');
      const before = loudMs(caller.heard());
      await expect.poll(() => loudMs(caller.heard()) - before, { timeout: 20_000 }).toBeGreaterThan(1_000);
      expect(await violationsOf(chromium.page)).toEqual([]);

      const worker = await service.workerOf(caller);
      process.kill(worker, 'SIGKILL');
      await service.says('call taken up');
      await service.says(
        'an operator and a call',
        ({ what, pid }) => what === 'takes over' && pid !== worker,
      );
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You speak to the caller');
      const later = loudMs(caller.heard());
      await expect.poll(() => loudMs(caller.heard()) - later, { timeout: 20_000 }).toBeGreaterThan(1_000);

      const asked = llm.requests.length;
      await page.getByLabel('Note for the agent').fill('Be kind.');
      await page.getByRole('button', { name: 'Hand back' }).click();
      await llm.until(() => llm.requests.length > asked);
      expect(JSON.stringify(llm.requests.at(-1)?.body)).toContain('Note of the person: Be kind.');
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toContain('You are listening');
      await caller.hangUp();
      await expect.poll(() => state.textContent(), { timeout: 20_000 }).toBe('The call is over.');
      expect(failures).toEqual([]);
    }, 120_000);
  },
);
