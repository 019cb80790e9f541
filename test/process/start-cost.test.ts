/** What a start loads (decision 0032), and that the stacks of what was built name the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { encodedWeights } from '../../shared/languages/completeness-weights.ts';
import { TestService } from '../support/process/service.ts';
import { RawCaller, startFrame } from './raw-caller.ts';

const project = new URL('../../', import.meta.url);
const pathOf = (path: string): string => fileURLToPath(new URL(path, project));
const preload = (name: string): string =>
  `--import ${new URL(`../support/process/${name}`, import.meta.url).href}`;

let service: TestService | undefined;

afterEach(async () => {
  await service?.stop();
});

describe('a start', () => {
  it('loads no package from outside of the bundle but native ones and what starts threads', async () => {
    service = await TestService.start({
      workers: 1,
      greeting: 'Hello.',
      env: { NODE_OPTIONS: preload('loaded-packages.mjs') },
    });
    expect((await (await service.call()).hangUp()).code).toBe(1000);
    service.signal('SIGTERM');
    await service.ended;

    const lines = service.log.filter(({ msg }) => msg === 'packages that were loaded');
    const native: readonly unknown[] = [expect.stringMatching(/^@koromix\/koffi/), 'koffi'];
    const loaded = new Map(lines.map(({ entry, packages }) => [entry, packages]));
    expect(loaded).toEqual(
      new Map<unknown, unknown>([
        ['supervisor/cli.js', native],
        ['worker/main.js', native],
        ['inference/main.js', expect.arrayContaining([...native, 'piscina'])],
      ]),
    );
  });

  it.each([
    ['worker/main', 4.2],
    ['supervisor/cli', 3.5],
    ['inference/main', 0.25],
  ])('reads no more code of %s than %d MB', (entry, mostMegabytes) => {
    const code = readFileSync(pathOf(`dist/${entry}.js`), 'utf8').replace(encodedWeights, '');
    expect(Buffer.byteLength(code) / 1e6).toBeLessThan(mostMegabytes);
  });

  it('reads no more of what sentences end in than 0.15 MB, which nothing compiles', () => {
    expect(encodedWeights.length / 1e6).toBeLessThan(0.15);
  });

  it('passes on the licences of what is in the bundles', () => {
    const notices = readFileSync(pathOf('dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = ['worker/main', 'supervisor/cli', 'inference/main', 'supervisor/rehearsal/main'].flatMap(
      (entry) => {
        const text = readFileSync(pathOf(`dist/${entry}.js.map`), 'utf8');
        return [...text.matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)\//g)].map(([, name]) => name ?? '');
      },
    );
    expect(new Set(bundled).size).toBeGreaterThan(10);
    for (const name of new Set(bundled)) expect(notices).toContain(`\n${name} `);
  });
});

describe('the stack of an error in a log', () => {
  it('names the sources of a worker and their lines', async () => {
    service = await TestService.start({ workers: 1, env: { NODE_OPTIONS: preload('chaos-plant.mjs') } });

    const planted = new RawCaller(service.port, startFrame(), { path: '/?plant:serve:throw' });
    await planted.closed();

    const stack = String((await service.says('a connection could not be served'))['stack']);
    const source = readFileSync(pathOf('worker/main.ts'), 'utf8').split('\n');
    const frames = [...stack.matchAll(/\(worker\/main\.ts:(\d+)\)/g)];
    const passed = frames.map(([, line]) => source[Number(line) - 1]);
    // Planted where the transport of the new call asks for the time.
    expect(passed[0]).toContain('now: () => systemClock.now()');
    expect(stack).toMatch(/worker\/places[.]ts:\d+/);
    const named = [...stack.matchAll(/\(((?:worker|shared|node_modules)\/\S+?):\d+\)/g)];
    expect(named.length).toBeGreaterThan(3);
    for (const [, path] of named) expect([path, existsSync(pathOf(path ?? ''))]).toEqual([path, true]);
    expect(stack).not.toContain('dist/');
  });
});
