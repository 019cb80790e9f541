/** A build without SIP: none of its code is in the bundles, nor its package (docs/sip.md). */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type * as absentListeners from '../../../shared/config/server/absent-listeners.ts';

type AbsentListeners = typeof absentListeners;

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the two processes hold of SIP, by file; packages by their name. */
async function held(withSip: boolean): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['cli/cli.ts', 'worker/main.ts'],
    ...{ absWorkingDir: root, outbase: root, outdir: 'dist', write: false, metafile: true, bundle: true },
    ...{ packages: 'external', platform: 'node', format: 'esm', target: 'node20', logLevel: 'silent' },
    define: { BUILD_SIP: JSON.stringify(withSip), BUILD_WITHOUT: '""', BUILD_VERSION: '"0"' },
  });
  return Object.values(metafile.outputs).flatMap(({ inputs, imports }) => [
    ...Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path)
      // The feature's way in is there in every build: it loads the rest, or does nothing. Settings are refused by name where it is not.
      .filter(
        (path) =>
          /^(supervisor|worker)\/sip\/|^shared\/sip\/.*\//.test(path) && path !== 'supervisor/sip/feature.ts',
      ),
    ...imports.map(({ path }) => path).filter((path) => path === 'sdp-transform'),
  ]);
}

/** The rule for variables of listeners that a build lacks, as it is in a build without SIP. */
async function rule(): Promise<AbsentListeners> {
  const { outputFiles } = await build({
    entryPoints: ['shared/config/server/absent-listeners.ts'],
    ...{ absWorkingDir: root, write: false, bundle: true, format: 'esm', define: { BUILD_SIP: 'false' } },
  });
  const built: unknown = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`);
  return built as AbsentListeners;
}

describe('a build', () => {
  it('without SIP refuses the variables of SIP, and says what it lacks', async () => {
    const refused: unknown[] = [];
    const { refuseAbsent, lackedBy } = await rule();
    const env = {
      SVC_SIP_ADDR: '127.0.0.1:5060',
      SVC_SIP_REGISTER: 'sip:pbx',
      SVC_WS_ADDR: '127.0.0.1:8080',
    };
    refuseAbsent(env, { refuse: (...why: unknown[]) => void refused.push(why) } as never);
    const what = 'must not be set: this build has no SIP: it has to be built with SVC_BUILD_WITH=sip';
    expect(refused).toEqual([
      [{ name: 'SVC_SIP_ADDR' }, what],
      [{ name: 'SVC_SIP_REGISTER' }, what],
    ]);
    expect(lackedBy('SVC_WS_ADDR')).toBeUndefined();
  });

  it('without SIP holds none of its code', async () => {
    expect(await held(false)).toEqual([]);
  });

  it('with SIP holds all of it', async () => {
    const files = await held(true);
    expect(files).toContain('sdp-transform');
    expect(files).toContain('shared/sip/agent/agent.ts');
    expect(files).toContain('supervisor/sip/sip-service.ts');
    expect(files).toContain('worker/sip/sip-call.ts');
  });
});
