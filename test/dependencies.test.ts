/** The packages: each has a reason written down, starts install what builds need, and nothing copyleft ships. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sherpaBeside, sherpaInstall } from '../cli/commands/local/sherpa.ts';

const textOf = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
}
interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

const { dependencies = {}, devDependencies = {}, ...others } = JSON.parse(textOf('package.json')) as Manifest;
const { dependencies: ofBuild = {} } = JSON.parse(textOf('scripts/package.json')) as Manifest;
const { packages } = JSON.parse(textOf('package-lock.json')) as {
  packages: Readonly<Record<string, Locked>>;
};

const isCopyleft = (licence: string): boolean => /GPL|MPL|EPL|EUPL|CDDL|CC-BY-SA|OSL/i.test(licence);

describe('the packages of the project', () => {
  it('are the rows of decision 0007, by name and version', () => {
    const rows = textOf('docs/decisions/0007-dependencies.md').matchAll(/^\| `([^`]+)` \| (\S+) \|/gm);
    const written = Object.fromEntries([...rows].map(([, name = '', version = '']) => [name, version]));
    expect(written).toEqual({ ...dependencies, ...devDependencies });
  });

  it('are pinned, and none is optional', () => {
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(others.optionalDependencies).toBeUndefined();
  });

  it('have their version in one place, also where a build asks for them', () => {
    expect(new Set(Object.values(ofBuild))).toEqual(new Set(['*']));
    expect(Object.keys(ofBuild).filter((name) => devDependencies[name] === undefined)).toEqual([]);
  });

  it('have none whose install script npm would run', () => {
    const marked = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    // npm marks new packages; remove the line, unless the package cannot do without its script.
    expect(marked.map(([folder]) => folder)).toEqual([]);
  });

  it('hold nothing copyleft among what a start installs', () => {
    const shipped = Object.entries(packages).filter(
      ([folder, { dev, link }]) => folder.startsWith('node_modules/') && dev !== true && link !== true,
    );
    expect(shipped.length).toBeGreaterThan(100);
    expect(shipped.filter(([, { license }]) => license === undefined || isCopyleft(license))).toEqual([]);
    expect(
      ['GPL-3.0-or-later', 'LGPL-2.1', 'MPL-2.0', 'AGPL-3.0-only'].filter((name) => !isCopyleft(name)),
    ).toEqual([]);
  });

  it('leave the engine of local speech to who wants it, in one version', () => {
    const engine = /sherpa-onnx-node@\S+/.exec(sherpaInstall)?.[0] ?? '-';
    expect(textOf('docs/local.md')).toContain(sherpaInstall);
    expect(textOf('docs/local.md')).toContain(sherpaBeside);
    expect(textOf('.ci/run')).toContain(` ${engine}; }`);
    expect(textOf('docs/decisions/0007-dependencies.md')).toContain(engine.replace('@', '`** '));
    expect(Object.keys(packages).filter((folder) => folder.includes('sherpa-onnx'))).toEqual([]);
  });
});
