/**
 * Lets Node run an agent that is written in TypeScript, without a build: `node --import <this file> agent.ts`. Types are taken off, not checked.
 * Where the agent's folder has not installed what agents are made of, this installation's own copies serve.
 */
import type * as esbuild from 'esbuild';
import { readFile } from 'node:fs/promises';
import { register, type LoadHook, type ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

/** The SDK as `npm run build` leaves it. Relative to the built file of these hooks. */
const ownSdk: Readonly<Record<string, string>> = {
  '@voice-agent-service/agent': '../../../sdk/index.js',
  '@voice-agent-service/agent/testing': '../../../sdk/testing.js',
};
const ownPackages: ReadonlySet<string> = new Set(['ws', 'zod']);

/** Where else to look for a module that is not where it was asked for. */
function otherPlace(specifier: string): { specifier: string; parentURL?: string } | undefined {
  const sdk = Object.hasOwn(ownSdk, specifier) ? ownSdk[specifier] : undefined;
  if (sdk !== undefined) return { specifier: new URL(sdk, import.meta.url).href };
  if (ownPackages.has(specifier)) return { specifier, parentURL: import.meta.url };
  // As the compiler wants neighbours to be named.
  if (/^\.{1,2}\/.*\.m?js$/.test(specifier)) return { specifier: specifier.replace(/js$/, 'ts') };
  return undefined;
}

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const other = otherPlace(specifier);
    if (other === undefined) throw error;
    return nextResolve(other.specifier, { ...context, parentURL: other.parentURL ?? context.parentURL });
  }
};

/** Takes types off; undefined where the package for it is not installed and Node does so itself, as it does from 22.18 on. */
async function ownTransform(): Promise<typeof esbuild.transform | undefined> {
  try {
    return (await import('esbuild')).transform;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    if ((process.features as { readonly typescript?: unknown }).typescript) return undefined;
    throw new Error('an agent in TypeScript needs Node 22.18 or newer, or esbuild installed beside it', {
      cause: error,
    });
  }
}

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!/^file:.*\.m?ts$/.test(url)) return nextLoad(url, context);
  const transform = await ownTransform();
  if (transform === undefined) return nextLoad(url, context);
  const { code } = await transform(await readFile(new URL(url), 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile: fileURLToPath(url),
  });
  return { format: 'module', source: code, shortCircuit: true };
};

// The thread that runs the hooks loads this file, too.
if (isMainThread) register(import.meta.url);
