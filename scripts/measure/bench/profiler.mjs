// Preloaded into the service's processes and threads by a bench with --profile: records a CPU profile of the whole life of each
// and writes it when it ends.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, dirname, join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';

const folder = process.env.BENCH_PROFILE_DIR;
const script = process.argv[1] ?? '';

if (folder !== undefined) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  session.post('Profiler.start');
  const role = isMainThread
    ? `${basename(dirname(script))}-${process.pid}`
    : `thread-${process.pid}-${threadId}`;
  process.on('exit', () => {
    session.post('Profiler.stop', (error, result) => {
      if (error === null) writeFileSync(join(folder, `${role}.cpuprofile`), JSON.stringify(result.profile));
    });
  });
}
