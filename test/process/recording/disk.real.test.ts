/** A disk that is full, or answers no more: it costs recordings, and no call notices. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { samplesOf } from '../../support/fakes/fake-speech.ts';
import { TestService } from '../../support/process/service.ts';

let service: TestService;
let folder: string;

const greeting = 'Good morning and welcome to the harbour office.';
/** The fakes speak at 24 kHz. */
const greetingMs = samplesOf(greeting) / 24;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  service = await TestService.start({
    ...{ greeting, workers: 1 },
    // A process whose thread stands still does not leave by itself; the supervisor ends it when these are over.
    env: { SVC_RECORDING_DIR: folder, SVC_DRAIN_TIMEOUT: '1s', SVC_CANCEL_GRACE: '1s', SVC_ABORT_WAIT: '1s' },
    agent: '[recording]\naudio = true\ntranscript = true\nfacts = true',
  });
}

/** Hears a whole greeting, and what became of its frames: milliseconds, and how often the caller would have had nothing to play. */
async function greeted(callId: string): Promise<{ call: CallClient; heardMs: number; gaps: number }> {
  let heardMs = 0;
  const call = await service.call({ callId }, (event) => {
    if (event.type === 'audio') heardMs += event.durationMs;
  });
  while (heardMs < greetingMs - 20 && (await call.next(({ type }) => type === 'audio')) !== undefined);
  return { call, heardMs, gaps: await service.metric('svc_underruns_total') };
}

describe('a disk that answers no more', () => {
  it('costs the recording, and neither a frame nor the end of the service', async () => {
    // A program that opens a pipe that nobody reads stands still, as on a server that is gone.
    mkdirSync(join(folder, 'open', 'stuck'), { recursive: true });
    execFileSync('mkfifo', [join(folder, 'open', 'stuck', 'heard.pcm')]);
    await start();
    const [stuck, other] = await Promise.all([greeted('stuck'), greeted('other')]);
    for (const { heardMs, gaps } of [stuck, other]) {
      expect(Math.abs(heardMs - greetingMs)).toBeLessThanOrEqual(20);
      expect(gaps).toBe(0);
    }
    await Promise.all([stuck.call.hangUp(), other.call.hangUp()]);
    expect((await service.stop()).code).toBe(0);
  });
});

const mounted = (): boolean => {
  const size = ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder];
  return spawnSync('mount', size, { stdio: 'ignore' }).status === 0;
};

describe('a disk that is full', () => {
  it('costs recordings, says so, and counts them', async (context) => {
    if (!mounted()) return context.skip('this user may not mount a small disk');
    try {
      await start();
      const { call, heardMs, gaps } = await greeted('full');
      await service.says('a recording could not be written', ({ code }) => code === 'ENOSPC');
      expect(Math.abs(heardMs - greetingMs)).toBeLessThanOrEqual(20);
      expect(gaps).toBe(0);
      expect(await service.metric('svc_recording_lost_total{what="write"}')).toBeGreaterThan(1);
      await call.hangUp();
      expect((await service.stop()).code).toBe(0);
      const told = service.log.filter(({ msg }) => msg === 'a recording could not be written');
      expect(told).toHaveLength(1);
      expect(told[0]).toMatchObject({ folder, call: expect.stringMatching(/./) as string });
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});
