/** A build without SIP: none of its code is in the bundles, nor its package (issue 23; spec 01, Transports: an optional build feature). */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the two processes hold of SIP, by file; packages by their name. */
async function held(withSip: boolean): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['supervisor/cli.ts', 'worker/main.ts'],
    ...{ absWorkingDir: root, outbase: root, outdir: 'dist', write: false, metafile: true, bundle: true },
    ...{ packages: 'external', platform: 'node', format: 'esm', target: 'node20', logLevel: 'silent' },
    define: { BUILD_SIP: JSON.stringify(withSip), BUILD_WITHOUT: '""', BUILD_VERSION: '"0"' },
  });
  return Object.values(metafile.outputs).flatMap(({ inputs, imports }) => [
    ...Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path)
      .filter((path) => /^supervisor\/sip\/|^worker\/transports\/sip\//.test(path)),
    ...imports.map(({ path }) => path).filter((path) => path === 'sdp-transform'),
  ]);
}

describe('a build', () => {
  it('without SIP holds none of its code', async () => {
    expect(await held(false)).toEqual([]);
  });

  it('with SIP holds all of it', async () => {
    const files = await held(true);
    expect(files).toContain('sdp-transform');
    expect(files).toContain('supervisor/sip/sip-service.ts');
    expect(files).toContain('worker/transports/sip/sip-call.ts');
  });
});
