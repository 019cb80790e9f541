// Makes a checkout ready to run. In an installed package there is nothing to install or to build.
import { existsSync } from 'node:fs';

const installer = new URL('../install.mjs', import.meta.url);

/** As a package, and not as a checkout. */
export const isInstalled = !existsSync(installer);

export async function makeReady() {
  if (isInstalled) return;
  const { ensureBuilt, ensureInstalled } = await import(installer.href);
  await ensureInstalled({ dev: false });
  await ensureBuilt();
}
