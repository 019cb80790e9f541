/** Words of listening, interruptions, single digits and numbers are heard no worse than they were: a small sample through the real inference. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { noRecordings } from '../support/audio/recordings.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const args = ['--only', 'spoken,digits,strings', '--sample', '10'];
const noted = ['--ratchet', 'docs/measurements/eval-turns.json'];

/** Time is that of the audio; a busy machine makes the replay slow, and not wrong. */
const longestMs = 240_000;

describe.skipIf(noRecordings !== undefined)('the evaluation of turns', () => {
  it(
    'finds no row worse than it was noted down',
    async () => {
      const text = await new Promise<string>((resolve) => {
        const command = [`${root}scripts/eval-turns.mjs`, ...args, ...noted];
        execFile(process.execPath, command, { cwd: root }, (_, out, err) => resolve(out + err));
      });
      expect(text).toContain('no row is worse than it was');
    },
    longestMs,
  );
});
