/** What the call page is served from: what every package holds, and what only a checkout has. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPageFiles } from '../../../supervisor/listeners/page-files.ts';

let folder: string;
const files = ['index.html', 'style.css', 'icon.svg', 'widget.js', 'app.js', 'worklets.js'];
const read = () => readPageFiles(pathToFileURL(`${folder}/`));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-page-'));
  for (const name of files) writeFileSync(join(folder, name), name);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the files of the call page', () => {
  it('are served without source maps, which packages do not hold', () => {
    expect(read().get('/app.js')?.body.toString()).toBe('app.js');
    expect(read().has('/app.js.map')).toBe(false);
  });

  it('are served with those that are there', () => {
    writeFileSync(join(folder, 'app.js.map'), '{}');
    expect(read().get('/app.js.map')?.type).toBe('application/json');
  });

  it('are refused as a whole where one is missing', () => {
    rmSync(join(folder, 'widget.js'));
    expect(read).toThrow('build the service again');
  });
});
