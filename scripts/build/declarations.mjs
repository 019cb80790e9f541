// Type declarations of what the package exports, and of the files that these name. TypeScript is not among what a start installs, so
// a build without it leaves them out; `npm pack` has it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const otherFile = /(?<= from ')(\.[^']*)\.ts(?=';)/g;

async function typescript() {
  try {
    return (await import('typescript')).default;
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Writes `dist/<entry>.d.ts` for each entry, named as in the project without `.ts`. */
export async function writeDeclarations(root, entries) {
  const ts = await typescript();
  if (ts === undefined) return;
  const files = [...entries];
  for (const file of files) {
    const { outputText } = ts.transpileDeclaration(readFileSync(join(root, `${file}.ts`), 'utf8'), {
      fileName: `${file}.ts`,
      compilerOptions: { verbatimModuleSyntax: true, stripInternal: true },
    });
    const target = join(root, 'dist', `${file}.d.ts`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText.replace(otherFile, '$1.js'));
    const named = [...outputText.matchAll(otherFile)].map(([, name]) => join(dirname(file), name));
    for (const name of named) if (!files.includes(name)) files.push(name);
  }
}
