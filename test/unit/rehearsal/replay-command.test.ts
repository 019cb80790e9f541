/** Which recording `svc-supervisor replay CALL` finds. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordingName } from '../../../shared/recording/layout.ts';
import { runReplay } from '../../../cli/rehearsal/replay/replay-command.ts';
import { factsOfWorld } from '../../sim/recorded-world.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-replay-'));

function keep(folder: string): void {
  const path = join(dir, folder);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'facts.jsonl.gz'), gzipSync(factsOfWorld(7)));
}

beforeAll(() => {
  keep('kept/2026-03-01/plain');
  keep(`kept/2026-03-02/${recordingName('order/7 of Zoë')}`);
  keep('outbox/2026-03-02_waiting');
});
afterAll(() => rmSync(dir, { recursive: true }));

function replay(call: string): { status: number; out: string; errors: string } {
  let [out, errors] = ['', ''];
  const status = runReplay([call], {
    env: { SVC_RECORDING_DIR: dir },
    readFile: () => undefined,
    readBytes: () => undefined,
    output: { write: (text) => (out += text) },
    writeError: (line) => (errors += line),
  });
  return { status, out, errors };
}

describe('replay by the id of a call', () => {
  it.each([
    ['kept by its day', 'plain'],
    ['whose id is no name of a file', 'order/7 of Zoë'],
    ['that waits for its upload', 'waiting'],
  ])('finds the recording of a call %s', (_, call) => {
    const { status, out } = replay(call);
    expect(status).toBe(0);
    expect(out).toContain('every order the same');
  });

  it('says where the facts of an uploaded call are', () => {
    const { status, errors } = replay('gone');
    expect(status).toBe(2);
    expect(errors).toContain('of an uploaded call, fetch facts.jsonl.gz and name it');
  });
});
