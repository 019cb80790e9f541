// What every package that is built from here has in common: its manifest, its declarations, its licence.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The version, the repository and the licence stand in the project's own manifest alone. */
export function publicManifest(source) {
  const { version, license, homepage, repository, bugs } = manifestIn(root);
  const { name, description, ...own } = manifestIn(join(root, source));
  const common = { license, homepage, repository: { ...repository, directory: source }, bugs };
  return { name, version, description, ...common, ...own };
}

/** A new folder with what every package holds. */
export function beginPackage(source, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = publicManifest(source);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  cpSync(join(root, source, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** `import('./a.ts')` and `from './a.ts'` as the files are called that are there. */
const otherFile = /(?<=(?:from |import\(|import )(['"]))(\.[^'"]*)\.ts(?=\1)/g;

/**
 * Writes `types/` of a package. `source`: the folder whose declarations these are; those of other files, whose code is built in, are left
 * out.
 */
export function writeTypes(folder, { files, source, config }) {
  const work = join(folder, 'all-types');
  const own = join(folder, 'tsconfig.json');
  const compilerOptions = {
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: root,
    outDir: work,
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true },
  };
  const given = {
    extends: join(root, config),
    compilerOptions,
    include: [],
    files: files.map((file) => join(root, file)),
  };
  writeFileSync(own, JSON.stringify(given));
  const types = join(folder, 'types');
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', own], {
      stdio: 'inherit',
    });
    renameSync(join(work, source), types);
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(own);
  }
  for (const name of readdirSync(types, { recursive: true }).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(types, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(otherFile, '$2.js'));
  }
}
