/** The command `init FOLDER`: writes a new project with an agent, its rehearsal, and what runs it. It asks nothing of the network. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isTemplate, templateNames, templates, type TemplateName } from './templates.ts';

export interface InitOptions {
  readonly folder: string;
  readonly template: string | undefined;
  /** The folder of the installed package. */
  readonly home: string;
  /** Asks the one who sits at the terminal; absent: nobody does. */
  readonly ask?: (question: string) => Promise<string>;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
}

/** Stored under other names: npm keeps some out of packages, and the compiler of this project would read its own of another. */
const storedAs: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.example': '.env.example',
  'tsconfig-of-project.json': 'tsconfig.json',
};
/** The word that every template is named by; a project is named after its folder. */
const namePlace = /\bmy-agent\b/g;
const versionPlace = /\bSERVICE_VERSION\b/g;
/** What npm takes as the name of a package and the service as the name of an agent. */
const nameForm = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const listed = (): string[] =>
  templateNames.map((name, index) => `  ${index + 1}  ${name.padEnd(10)}  ${templates[name].text}`);

/** Returns the exit status: 0 written, 1 it cannot be written, 2 the wish is none. */
export async function runInit(options: InitOptions): Promise<0 | 1 | 2> {
  const { folder, home, write, writeError } = options;
  const target = resolve(folder);
  const name = basename(target);
  if (!nameForm.test(name)) {
    writeError(
      'FOLDER: its name becomes that of the agent: 1 to 64 of a-z, 0-9, _ and -, a letter or digit first',
    );
    return 2;
  }
  if (existsSync(target) && !isEmptyFolder(target)) {
    writeError('FOLDER: must be new or empty');
    return 1;
  }
  const template = await chosen(options);
  if (template === undefined) {
    writeError(`--template: must be ${templateNames.join(', ')}`);
    return 2;
  }
  const version = versionOf(home);
  const files = filesOf(template, join(home, 'examples/templates'));
  try {
    for (const [path, text] of files) {
      const file = join(target, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text.replace(namePlace, name).replace(versionPlace, version));
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    writeError(`FOLDER: cannot be written: ${String(error.code)}`);
    return 1;
  }
  write(`${files.size} files in ${folder}; next:`);
  if (resolve() !== target) write(`  cd ${folder}`);
  for (const line of nextSteps(template)) write(`  ${line}`);
  return 0;
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

async function chosen({ template, ask, write }: InitOptions): Promise<TemplateName | undefined> {
  if (template !== undefined) return isTemplate(template) ? template : undefined;
  if (ask === undefined) return undefined;
  listed().forEach(write);
  const answer = (await ask(`Which template? (1 to ${templateNames.length}; 1) `)).trim().toLowerCase();
  if (answer === '') return templateNames[0];
  return isTemplate(answer) ? answer : templateNames[Number(answer) - 1];
}

function versionOf(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** Texts by their paths in the new project. */
export function filesOf(template: TemplateName, folder: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const layer of templates[template].layers) {
    const from = join(folder, layer);
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name).slice(from.length + 1);
      files.set(storedAs[path] ?? path, readFileSync(join(from, path), 'utf8'));
    }
  }
  return files;
}

function nextSteps(template: TemplateName): readonly string[] {
  if (template === 'python')
    return [
      'python3 -m venv .venv && . .venv/bin/activate',
      'pip install -r requirements.txt',
      'python -m unittest',
    ];
  const hasBackend = template === 'restaurant' || template === 'support';
  return [
    'npm install',
    template === 'typescript'
      ? 'npm test          # Node 22.18 or newer runs TypeScript as it is'
      : 'npm test',
    ...(hasBackend ? ['npm run backend & # what the tools ask, until you have your own'] : []),
    'npm start',
  ];
}
