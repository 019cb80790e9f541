/** Which recording `svc-supervisor replay CALL` finds. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../../shared/recording/keys.ts';
import { recordingName } from '../../../shared/recording/layout.ts';
import { runReplay } from '../../../cli/rehearsal/replay/replay-command.ts';
import { writeOutput } from '../../../worker/recording/file-output.ts';
import { factsOfWorld } from '../../sim/recorded-world.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-replay-'));

function keep(folder: string): void {
  const path = join(dir, folder);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'facts.jsonl.gz'), gzipSync(factsOfWorld(7)));
}

const key = keyOf(randomBytes(32));

beforeAll(async () => {
  keep('kept/2026-03-01/plain');
  keep(`kept/2026-03-02/${recordingName('order/7 of Zoë')}`);
  keep('outbox/2026-03-02_waiting');
  keep('kept/tenants/acme/2026-03-02/theirs');
  const folder = join(dir, 'kept/2026-03-03/secret');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(dir, 'key'), `${key.secret}\n`);
  await writeOutput(join(folder, 'facts.jsonl.gz'), key, (out) => out.write(gzipSync(factsOfWorld(7))));
});
afterAll(() => rmSync(dir, { recursive: true }));

async function replay(
  call: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ status: number; out: string; errors: string }> {
  let [out, errors] = ['', ''];
  const status = await runReplay([call], {
    env: { SVC_RECORDING_DIR: dir, ...env },
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
    ['of a tenant, by its id', 'theirs'],
    ['of a tenant, by the name that its record has', 'acme~theirs'],
  ])('finds the recording of a call %s', async (_, call) => {
    const { status, out } = await replay(call);
    expect(status).toBe(0);
    expect(out).toContain('every order the same');
  });

  it('reads facts that are encrypted, by the call, by the folder and by the file', async () => {
    const given = [
      'secret',
      join(dir, 'kept/2026-03-03/secret'),
      join(dir, 'kept/2026-03-03/secret/facts.jsonl.gz.enc'),
    ];
    for (const one of given) {
      const { status, out } = await replay(one, { SVC_RECORDING_KEY_FILE: join(dir, 'key') });
      expect(status).toBe(0);
      expect(out).toContain('every order the same');
    }
  });

  it('names the setting where it lacks the key, or the file of keys is not valid', async () => {
    const { id } = key;
    expect((await replay('secret')).errors).toContain(
      `it is encrypted with the key ${id}, and SVC_RECORDING_KEY_FILE is not set`,
    );
    writeFileSync(join(dir, 'other'), keyOf(randomBytes(32)).secret);
    expect(await replay('secret', { SVC_RECORDING_KEY_FILE: join(dir, 'other') })).toMatchObject({
      status: 2,
      errors: expect.stringContaining(
        `the key ${id}, which the file of SVC_RECORDING_KEY_FILE does not have`,
      ) as string,
    });
    writeFileSync(join(dir, 'wrong'), 'hunter2');
    const { errors } = await replay('secret', { SVC_RECORDING_KEY_FILE: join(dir, 'wrong') });
    expect(errors).toContain(
      'SVC_RECORDING_KEY_FILE: its file is not valid: line 1 must be a key of 32 bytes',
    );
    expect(errors).not.toContain('hunter2');
  });

  it('says where the facts of an uploaded call are', async () => {
    const { status, errors } = await replay('gone');
    expect(status).toBe(2);
    expect(errors).toContain('of an uploaded call, fetch facts.jsonl.gz and name it');
  });
});
