// Loaded into the processes of a service under test: SIGWINCH collects garbage, so that resident memory can be compared between
// two moments. Must not be part of the service itself.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGWINCH', () => collect());
}
