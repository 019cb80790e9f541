// Loaded into the processes of a service under test: says at the end which packages were loaded from outside of the bundle, on a
// line of the log. Must not be part of the service itself.
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const { cache } = createRequire(import.meta.url);

if (isMainThread) {
  const entry = /[^/\\]+[/\\][^/\\]+$/.exec(process.argv[1] ?? '')?.[0].replace('\\', '/');
  process.on('exit', () => {
    const names = Object.keys(cache).flatMap((path) => {
      const name = /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(path)?.[1];
      return name === undefined ? [] : [name.replace('\\', '/')];
    });
    const line = { msg: 'packages that were loaded', entry, packages: [...new Set(names)].sort() };
    writeSync(1, `${JSON.stringify(line)}\n`);
  });
}
