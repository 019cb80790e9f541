/** The history of calls in a real browser, and what its listener says to those who ask without one. */
import { violationsOf } from '../../support/accessible.ts';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallFact } from '../../../shared/calls/facts.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { foldersOfRecording } from '../../../shared/installation/kept-recordings.ts';
import { keyOf } from '../../../shared/recording/keys.ts';
import { tenantToken } from '../../../shared/auth/tenant-token.ts';
import type { CallRow } from '../../../web/calls/wire.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { finishRecording } from '../../../worker/recording/finish.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { recordOf, startedMs } from '../../support/calls/records.ts';
import { chromiumMissing, openChromium, type ChromiumPage } from '../../support/chromium.ts';
import { beforeAskingAgain, TestService } from '../../support/process/service.ts';

const token = 'the token of the history, of thirty-two bytes'.replaceAll(' ', '-');
const bearer = { authorization: `Bearer ${token}` };
const kept = new KeptRecords();
let recordings = '';
let service: TestService;

const said = (
  role: 'caller' | 'operator',
  epoch: number,
  from: number,
  at: number,
  text: string,
): CallFact => ({
  ...{ t: 'said', role, epoch, from, at, text },
});
const heard = (
  epoch: number,
  from: number,
  at: number,
  text: string,
  how: 'finished' | 'interrupted',
): CallFact => ({
  ...{ t: 'heard', epoch, from, at, text, how, complete: how === 'finished' },
});

const facts: readonly CallFact[] = [
  heard(1, 200, 1_800, 'Hello, harbour office.', 'finished'),
  said('caller', 2, 2_000, 3_400, 'A table for four, please.'),
  { t: 'turn', at: 3_400, epoch: 2 },
  { t: 'times', at: 4_300, epoch: 2, ms: [180, 120, 420, 160, 20] },
  { t: 'tool', at: 3_600, key: 'k', id: 'i', name: 'book_table', ms: 700, outcome: 'ok' },
  { t: 'cut', at: 6_000, epoch: 2 },
  heard(2, 4_300, 6_000, 'I have booked a table for', 'interrupted'),
  said('caller', 3, 5_700, 6_900, 'No, for five! <b>now</b>'),
  { t: 'turn', at: 6_900, epoch: 3 },
  { t: 'times', at: 8_300, epoch: 3, ms: [300, 200, 600, 280, 20] },
  { t: 'fault', at: 7_200, stage: 'llm', what: 'retried' },
  { t: 'tally', at: 7_300, silence: 900 },
  heard(3, 8_300, 9_400, 'Five it is.', 'finished'),
  { t: 'operator', at: 1_000, id: 'o', role: 'listen', name: 'Maria', until: 9_000 },
];

/** A table of calls, one of which has everything. */
async function fill(): Promise<void> {
  const store = new SqlCallStore(await openDatabase(kept.env.SVC_CALLS_DB));
  for (let n = 0; n < 119; n += 1)
    await store.insert(
      recordOf(
        {
          id: `r${n}`,
          call: `c${n}`,
          ...(n % 3 === 0 ? { agent: 'clinic/desk', tenant: 'clinic' } : { agent: 'host' }),
          started: startedMs + n * 60_000,
        },
        [],
        {
          code: n % 10 === 0 ? 'providers_failed' : 'caller_hung_up',
          at: 30_000 + n * 1_000,
        },
      ),
    );
  const whole = recordOf(
    {
      ...{
        id: 'whole',
        call: 'order/7',
        agent: 'host',
        transport: 'carrier_a',
        from: '+15550100001',
        to: '+15550100002',
      },
      ...{ started: startedMs + 200 * 60_000, recording: 'order7', transcript: true, facts: true },
    },
    facts,
    { at: 10_000 },
  );
  await store.insert(
    recordOf({ id: 'locked', call: 'locked', started: startedMs, recording: 'locked' }, [], { at: 10_000 }),
  );
  await store.insert({
    ...whole,
    cost: { currency: 'USD', total: 0.0412, by_stage: {}, unpriced: [], as_of: '2026-11-01' },
  });
  const success = { booked: { answer: 'yes', quote: 'Five it is.' } };
  const analysis = { status: 'ok', summary: 'A table for five.', outcome: 'success', success };
  await store.updateAnalysis('whole', (record) => ({ ...record, analysis }));
  await store.close();
}

const [key, olderKey, lostKey] = [keyOf(randomBytes(32)), keyOf(randomBytes(32)), keyOf(randomBytes(32))];

/** Ten seconds of both sides, put together and encrypted by another key than that of new recordings. */
async function record(): Promise<void> {
  const flite = await loadFlite();
  const sides = [new Int16Array(16_000 * 10), new Int16Array(16_000 * 10)] as const;
  const place = (text: string, atMs: number, side: 0 | 1): void => {
    const voice = flite(text, { voice: 'slt', speed: 1 });
    sides[side].set(voice.subarray(0, sides[side].length - atMs * 16), atMs * 16);
  };
  place('Hello, harbour office.', 200, 1);
  place('A table for four, please.', 2_000, 0);
  place('I have booked a table for', 4_300, 1);
  place('No, for five!', 5_700, 0);
  place('Five it is.', 8_300, 1);
  for (const [name, by] of [
    ['order7', olderKey],
    ['locked', lostKey],
  ] as const) {
    const folder = join(recordings, 'kept', '2026-11-28', name);
    mkdirSync(folder, { recursive: true });
    for (const [side, file] of ['heard.pcm', 'sent.pcm'].entries())
      writeFileSync(join(folder, file), new Uint8Array(sides[side]?.buffer ?? new ArrayBuffer()));
    writeFileSync(join(folder, 'lines-000000000000.jsonl'), '{"at":0,"type":"call","rate":16000}\n');
    await finishRecording(folder, { keys: [by] });
  }
  writeFileSync(join(recordings, 'keys'), `${key.secret}\n# until November\n${olderKey.secret}\n`);
}

beforeAll(async () => {
  recordings = mkdtempSync(join(tmpdir(), 'recordings-'));
  await Promise.all([fill(), record()]);
  service = await TestService.start({
    greeting: 'Good morning to you.',
    tables: '[recording]\naudio = true\naudio_format = "opus"\nfacts = true\n',
    env: {
      ...{ ...kept.env, SVC_CALLS_TOKEN: token, SVC_RECORDING_DIR: recordings },
      SVC_RECORDING_KEY_FILE: join(recordings, 'keys'),
    },
  });
}, 60_000);

afterAll(async () => {
  await service.stop();
  kept.remove();
  rmSync(recordings, { recursive: true, force: true });
});

/** Asks again while the process that keeps records comes up. */
async function asked(path: string): Promise<Response> {
  for (;;) {
    const answer = await service.get(path, bearer);
    if (answer.status !== 503) return answer;
  }
}

describe('the history of calls', () => {
  it('answers those with its token alone, and says what is wrong', async () => {
    expect((await service.get('/calls')).headers.get('content-security-policy')).toContain(
      "default-src 'none'",
    );
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      for (const path of ['/calls/list', '/calls/about', '/calls/record/whole', '/calls/sound/whole']) {
        const answer = await service.get(path, headers);
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      }
    }
    expect(service.said('records of calls are refused')).toMatchObject({ audit: true });
    const wrong = await service.get('/calls/list?since=x', bearer);
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { code: 'bad_request', message: 'since must be a whole number, at most 9007199254740991' },
    ]);
    for (const [path, status] of [
      ['/calls/record/nobody', 404],
      ['/calls/sound/r1', 404],
      ['/calls/sound/..%2F..%2Fetc', 404],
      ['/calls/nothing', 404],
      ['/calls/record/%', 404],
    ] as const)
      expect([path, (await asked(path)).status]).toEqual([path, status]);
    const post = await fetch(`http://${service.address('health')}/calls/list`, {
      method: 'POST',
      headers: bearer,
    });
    expect(post.status).toBe(405);
  });

  it('gives records and sound, and writes down who has read them', async () => {
    const list = (await (await asked('/calls/list?text=five&agent=host&min_cost=0.01')).json()) as {
      rows: object[];
    };
    expect(list.rows).toMatchObject([{ id: 'whole', outcome: 'success' }]);
    expect(await (await asked('/calls/record/order%2F7')).json()).toMatchObject({
      record: { id: 'whole' },
      hasSound: true,
    });
    const sound = await asked('/calls/sound/whole');
    expect(sound.headers.get('content-type')).toBe('audio/wav');
    expect((await sound.arrayBuffer()).byteLength).toBe(44 + 640_000);
    expect((await (await asked('/calls/waveform/whole')).arrayBuffer()).byteLength).toBe(4_000);
    const part = await service.get('/calls/sound/whole', { ...bearer, range: 'bytes=70000-70003' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 70000-70003/640044']);
    expect((await part.arrayBuffer()).byteLength).toBe(4);
    const nothing = await service.get('/calls/sound/whole', { ...bearer, range: 'bytes=640044-' });
    expect([nothing.status, nothing.headers.get('content-range')]).toEqual([416, 'bytes */640044']);
    const lines = service.log.filter(({ msg }) => msg === 'a record of a call is read');
    expect(lines.at(-1)).toMatchObject({ audit: true, record: 'whole', call: 'order/7', what: 'sound' });
    expect(JSON.stringify(service.log)).not.toContain('table for');
  });

  it('gives a tenant its own calls alone, whatever it asks for', async () => {
    const expiresS = Math.floor(Date.now() / 1000) + 600;
    const headers = {
      authorization: `Bearer ${tenantToken({ to: 'calls', tenant: 'clinic', expiresS }, token)}`,
    };
    await asked('/calls/list');
    for (const query of ['', '?tenant=other', '?agent=host', '?text=five']) {
      const list = (await (await service.get(`/calls/list${query}`, headers)).json()) as { rows: CallRow[] };
      expect(list.rows.every(({ tenant }) => tenant === 'clinic')).toBe(true);
      expect(list.rows.length > 0).toBe(!/agent|text/.test(query));
    }
    const mine = await service.get('/calls/record/r0', headers);
    expect([mine.status, await mine.json()]).toMatchObject([200, { record: { tenant: 'clinic' } }]);
    for (const path of ['record/r1', 'record/whole', 'record/order%2F7', 'sound/whole', 'waveform/whole'])
      expect([path, (await service.get(`/calls/${path}`, headers)).status]).toEqual([path, 404]);
    expect(service.log.filter(({ msg }) => msg === 'a record of a call is read').at(-1)).toMatchObject({
      ...{ record: 'r0', tenant: 'clinic' },
    });
  });

  it('names the key that it lacks for a recording', async () => {
    expect(await (await asked('/calls/record/locked')).json()).toMatchObject({ hasSound: true });
    const answer = await service.get('/calls/sound/locked', bearer);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        code: 'recording_unreadable',
        message: `the recording cannot be read: it is encrypted with the key ${lostKey.id}, which the file of SVC_RECORDING_KEY_FILE does not have`,
      },
    ]);
  });

  it('has a call with its recording some seconds after its end', async () => {
    const call = await service.call({ callId: 'now' });
    await call.next(({ type }) => type === 'mark-played');
    await call.hangUp();
    for (;;) {
      const answer = await asked('/calls/record/now');
      const { hasSound, record } = (await answer.json()) as { hasSound?: boolean; record?: CallRecord };
      if (hasSound !== true) {
        await beforeAskingAgain();
        continue;
      }
      expect(record?.links.replay).toBe('now');
      break;
    }
    const sound = await asked('/calls/sound/now');
    expect(sound.headers.get('content-type')).toBe('audio/ogg');
    expect(Buffer.from(await sound.arrayBuffer()).toString('latin1')).toMatch(/^OggS/);
    const [today = ''] = await foldersOfRecording(recordings, 'now');
    for (const name of readdirSync(today))
      expect(readFileSync(join(today, name), 'latin1')).toMatch(/^SVCSEAL1/);
  });

  it('is not there without a token in the settings', async () => {
    const other = await TestService.start();
    try {
      for (const path of ['/calls', '/calls/list', '/calls/calls.js'])
        expect((await other.get(path, bearer)).status).toBe(404);
    } finally {
      await other.stop();
    }
  });
});

describe.skipIf(chromiumMissing !== undefined)(`the history page ${chromiumMissing ?? ''}`, () => {
  let chromium: ChromiumPage;

  beforeAll(async () => {
    chromium = await openChromium('/dev/null', { context: { acceptDownloads: true } });
  });
  afterAll(async () => {
    await chromium.close();
  });

  it('lists, finds, and shows one call with its sound, its text and its record', async () => {
    const { page } = chromium;
    const failures: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') failures.push(message.text());
    });
    page.on('pageerror', ({ message }) => failures.push(message));
    await page.goto(`http://${service.address('health')}/calls`);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    const rows = page.locator('#rows tr');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    expect(await violations()).toEqual([]);
    await page.getByLabel('Ended').selectOption('providers_failed');
    await expect.poll(() => rows.count()).toBe(12);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8').split('\r\n')).toHaveLength(14);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('searchbox', { name: 'Said' }).fill('five');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.getByRole('link').click();

    await expect.poll(() => page.locator('#call-title').textContent()).toContain('host');
    await expect.poll(() => page.locator('.has-wave polygon').count()).toBe(2);
    expect(await page.locator('#said b').count()).toBe(0);
    expect(await page.locator('#facts').textContent()).toContain('+15550100001');
    expect(await page.locator('#analysis').textContent()).toContain('A table for five.');
    expect(await page.locator('#events tr').count()).toBe(4);
    expect(await page.locator('#turns li').count()).toBe(2);
    expect(await page.locator('#turns').textContent()).toContain('900 ms of silence, 1 fault');
    expect(await page.locator('#replay-command').textContent()).toBe(
      'svc-supervisor replay order7 --agent AGENT.toml',
    );
    expect(await violations()).toEqual([]);

    const current = page.locator('#said [aria-current]');
    await page.getByRole('button', { name: 'Go to 0:08' }).click();
    await expect.poll(() => current.textContent()).toContain('Five it is.');
    await page.getByRole('button', { name: 'Go to 0:02' }).click();
    await page.evaluate(`document.getElementById('audio').play()`);
    await expect.poll(() => current.textContent(), { timeout: 20_000 }).toContain('I have booked');
    await page.evaluate(`document.getElementById('audio').pause()`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as JSON' }).click(),
    ]);
    expect(JSON.parse(readFileSync(await file.path(), 'utf8'))).toMatchObject({ id: 'whole' });
    await page.getByRole('link', { name: 'All calls' }).click();
    await expect.poll(() => rows.first().isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.hash')).toBe('#whole');
    // The call of the test before, recorded as Opus.
    await page.goto(`http://${service.address('health')}/calls#now`);
    await expect.poll(() => page.locator('#said').textContent()).toContain('Good morning to you.');
    await expect.poll(() => page.locator('.has-wave polygon').count()).toBe(2);
    expect(failures).toEqual([]);
  }, 120_000);

  /** Nothing but regions that say so is wider than the window. */
  const violations = (): Promise<string[]> =>
    violationsOf(chromium.page, async (width) => {
      const wide = await chromium.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      return wide > 0 ? [`${width} is too narrow by ${wide}`] : [];
    });
});
