// Writes the generated reference pages, the example agent file and its schema out of the declarations in shared/config, and the page of
// commands out of their table, the index of decisions, and what the SDKs hold of the agent link.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run docs
  Writes docs/reference, the example agent file, its schema, and what the SDKs hold of the agent link.`);
await ensureInstalled({ dev: false });
const { build } = await import('esbuild');

const root = fileURLToPath(new URL('..', import.meta.url));

// A bundle in a file of its own, because the Node versions that the project supports cannot all read TypeScript.
const folder = mkdtempSync(join(tmpdir(), 'reference-'));
const outfile = join(folder, 'reference.mjs');
let files;
try {
  await build({
    stdin: {
      contents: `export { referenceFiles, withProviderChoices, withVersions } from './scripts/docs/reference.ts';
        export { decisionsIndex } from './scripts/docs/decisions-index.ts';
        export { commandsPage } from './cli/commands/commands.ts';
        export { wireFiles } from './scripts/sdk/wire-types.ts';
        export { pythonFiles } from './scripts/sdk/python-files.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  const docs = await import(pathToFileURL(outfile).href);
  const { commandsPage, pythonFiles, referenceFiles, wireFiles, withProviderChoices, withVersions } = docs;
  const decisions = readdirSync(join(root, 'docs/decisions'))
    .filter((name) => /^\d/.test(name))
    .map((name) => `docs/decisions/${name}`);
  const page = 'docs/providers.md';
  const text = withProviderChoices(readFileSync(join(root, page), 'utf8'));
  const packages = 'docs/decisions/0007-dependencies.md';
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const versions = { ...dependencies, ...devDependencies };
  files = [
    ...referenceFiles(),
    { path: packages, text: withVersions(readFileSync(join(root, packages), 'utf8'), versions) },
    { path: 'docs/reference/commands.md', text: commandsPage() },
    { path: page, text },
    docs.decisionsIndex(decisions.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))),
    ...wireFiles(),
    ...pythonFiles(),
  ];
} finally {
  rmSync(folder, { recursive: true, force: true });
}

for (const { path, text } of files) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  console.log(path);
}
