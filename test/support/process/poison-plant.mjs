// Loaded into the workers of a service under test: a call whose id is `poison:HOW` is the end of each worker that has it, half a second after
// the worker began with it. Its id travels with its record, as bad data of a real call does. Must not be part of the service itself.
import { AsyncLocalStorage } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

/** Looks at the clock in the scope of the call, of which there are several in a tick of 5 ms. */
const looks = 300;

const ways = {
  loop() {
    for (;;);
  },
  // The engine backtracks through 2^40 ways; no other code of the thread runs meanwhile.
  expression: () => /^(\w+\s?)*$/.test(`${'a'.repeat(40)}!`),
  abort: () => process.abort(),
  fault: () => process.kill(process.pid, 'SIGSEGV'),
  leave: () => process.exit(1),
  memory() {
    const held = [];
    for (;;) held.push(Array.from({ length: 100_000 }, () => ({})));
  },
  // As the kernel ends a process that takes all memory of its container.
  killed() {
    const until = process.hrtime.bigint() + 600_000_000n;
    while (process.hrtime.bigint() < until);
    process.kill(process.pid, 'SIGKILL');
  },
};

if (isMainThread && /worker[\\/]main\.js$/.test(process.argv[1] ?? '')) plant();

function plant() {
  /** By scope. */
  const poisons = new Map();
  let storage;
  let unplaced;
  const place = (scope, how) => poisons.set(scope, { how, left: looks });

  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function (store, ...rest) {
    if (typeof store?.fault === 'function') {
      // eslint-disable-next-line @typescript-eslint/no-this-alias -- the storage that the worker made is what is looked for
      storage = this;
      // A call that is taken up: its record was read right before its scope is entered.
      if (unplaced !== undefined) place(store, unplaced);
      unplaced = undefined;
    }
    return run.call(this, store, ...rest);
  };

  const { parse } = JSON;
  JSON.parse = (text, ...rest) => {
    const how = typeof text === 'string' ? /"call(?:_i|I)d":"poison:(\w+)"/.exec(text)?.[1] : undefined;
    const scope = storage?.getStore();
    if (how !== undefined && scope === undefined) unplaced = how;
    else if (how !== undefined && !poisons.has(scope)) place(scope, how);
    return parse(text, ...rest);
  };

  const now = performance.now.bind(performance);
  Object.defineProperty(performance, 'now', {
    configurable: true,
    value: () => {
      const found = poisons.get(storage?.getStore());
      if (found !== undefined && (found.left -= 1) === 0) ways[found.how]();
      return now();
    },
  });
}
