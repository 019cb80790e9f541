/** The files by which the tests of the Python SDK judge it are what the service says today. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pythonFiles } from '../../../scripts/sdk/python-files.ts';

const root = new URL('../../../', import.meta.url);

describe('the Python SDK', () => {
  it.each(pythonFiles().map(({ path, text }) => ({ path, text })))(
    'is measured by $path as the service has it (npm run docs writes it)',
    ({ path, text }) => {
      const file = new URL(path, root);
      expect(existsSync(file) ? readFileSync(file, 'utf8') : 'missing').toBe(text);
    },
  );
});
