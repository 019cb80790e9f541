import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordingBytes, RecordingRing } from '../../../shared/recording/ring.ts';
import { RecordingWriter } from '../../../worker/recording/writer.ts';

const layout = { slots: 1, ringBytes: 4096 };
/** When a folder was last touched by nobody. */
const nowS = 1_000_000;
const textOf = (text: string): Uint8Array => new TextEncoder().encode(text);

let dir: string;
let ring: RecordingRing;
let failures: unknown[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-recording-'));
  ring = new RecordingRing(new ArrayBuffer(recordingBytes(layout)), 0, layout);
  failures = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

const writer = ({ isAfterDeath = false } = {}): RecordingWriter =>
  new RecordingWriter({
    dir,
    rings: [ring],
    isAfterDeath,
    failed: (error, call) => failures.push([error, call]),
  });
const folder = (): string => join(dir, 'open', 'call-1');
const isShownAsRunning = (): boolean => statSync(folder()).mtimeMs === nowS * 1000;
const facts = (): string => readFileSync(join(folder(), 'facts-000000000000.jsonl'), 'utf8');

/** A call is recorded, and its writer is gone with an entry still in the ring. */
function begun(): void {
  ring.push('open', 0, textOf('call-1'));
  ring.push('fact', 0, textOf('one\n'));
  writer().write();
  ring.push('fact', 0, textOf('two\n'));
}

describe('a writer of recordings', () => {
  it('goes on with the call of a writer before it in the same worker', () => {
    begun();
    const next = writer();
    next.write();
    next.touch(nowS);
    expect(facts()).toBe('one\ntwo\n');
    expect(isShownAsRunning()).toBe(true);
  });

  it('writes what a dead worker has left, and does not show its call as a running one', () => {
    begun();
    const next = writer({ isAfterDeath: true });
    next.touch(nowS);
    expect(facts()).toBe('one\ntwo\n');
    expect(isShownAsRunning()).toBe(false);
    expect(ring.owner).toBe('');
  });

  it('has nothing more to do with a call that ended in another worker', () => {
    begun();
    const next = writer({ isAfterDeath: true });
    renameSync(folder(), join(dir, 'elsewhere'));
    next.touch(nowS);
    next.write();
    expect(failures).toEqual([]);
    expect(existsSync(folder())).toBe(false);
  });

  it('names the call whose recording it cannot write', () => {
    writeFileSync(join(dir, 'open'), 'no folder');
    ring.push('open', 0, textOf('call-1'));
    ring.push('fact', 0, textOf('one\n'));
    ring.push('end', 0, new Uint8Array());
    writer().write();
    expect(failures.length).toBeGreaterThan(1);
    for (const failure of failures)
      expect(failure).toEqual([expect.objectContaining({ code: expect.any(String) as string }), 'call-1']);
  });

  it('records the call that takes the place of what was left', () => {
    begun();
    ring.push('open', 500, textOf('call-2'));
    const next = writer({ isAfterDeath: true });
    ring.push('fact', 0, textOf('three\n'));
    next.write();
    expect(facts()).toBe('one\ntwo\n');
    expect(readFileSync(join(dir, 'open', 'call-2', 'facts-000000000500.jsonl'), 'utf8')).toBe('three\n');
    expect(ring.owner).toBe('500 call-2');
  });
});
