/**
 * Loads packages that are installed beside the service or beside a file. Nothing is fetched: Node looks for them where it looks for
 * packages of a program there.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, ok, type Result } from '../base/result.ts';

/** Where a package's module is, as an address for `import`; the error completes "names a package that". */
export function findPackage(name: string, folders: readonly string[]): Result<string, string> {
  let rule = 'is not installed beside this file or beside the service';
  for (const folder of folders) {
    try {
      return ok(pathToFileURL(createRequire(join(folder, 'x.js')).resolve(name)).href);
    } catch (error) {
      // A user who has a package without an entry shall not be told to install it.
      if (codeOf(error) !== 'MODULE_NOT_FOUND')
        rule = 'has no module under "exports" or "main" that can be loaded';
    }
  }
  return fail(rule);
}

/** Runs the module at an address; the error completes "names a package that". */
export async function importPackage(address: string): Promise<Result<object, string>> {
  try {
    const loaded: unknown = await import(address);
    if (typeof loaded === 'object' && loaded !== null) return ok(loaded);
    return fail('is no module');
  } catch (error) {
    // The message may hold anything; the kind of the error tells where to look.
    return fail(`cannot be loaded: ${codeOf(error) ?? (error instanceof Error ? error.name : 'it threw')}`);
  }
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
