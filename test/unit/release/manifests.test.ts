/** The manifests of what is published, side by side. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly engines?: { readonly node: string };
}

const read = (folder: string): Manifest =>
  JSON.parse(readFileSync(new URL(`../../../${folder}package.json`, import.meta.url), 'utf8')) as Manifest;
const service = read('');

describe.each(['web/client/', 'sdk/typescript/', 'sdk/stage/'])('the package of %s', (folder) => {
  const manifest = read(folder);

  it('is found by the scope and by words', () => {
    expect(manifest.name).toMatch(new RegExp(`^@${service.name}/`));
    expect(manifest.description).not.toBe('');
    expect(manifest.keywords.length).toBeGreaterThan(2);
  });

  it('asks for the Node that the service asks for, or runs in a browser', () => {
    if (folder !== 'web/client/') expect(manifest.engines).toEqual(service.engines);
  });
});
