// Loaded into the workers of a service under test: plants an error in the callbacks of calls whose ids ask for it.
//
// A path `/?plant:serve:HOW` plants one where the worker builds the call, before it has an id. A call id `plant:KIND:HOW` names the kind of callback (a key of `kinds`) and what happens in it (`throw`, `reject`,
// `emit`). The plant is armed by the key D, and goes off once, in the next callback of that kind
// that runs in the scope of the call. Callbacks are recognised by who called them. Must not be part of the service itself.
import { AsyncLocalStorage } from 'node:async_hooks';
import buffer from 'node:buffer';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const kinds = {
  socket: (stack) => /#onMessage \(worker\/transports\/socket\/socket-call\.ts:/.test(stack),
  timer: (stack) => stack.includes('listOnTimeout') && !stack.includes('Pacer'),
  stt: (stack) => stack.includes('StreamSession') && stack.includes('Receiver'),
  llm: (stack) => stack.includes('worker/stages/llm/round.ts') && stack.includes('onResponseData'),
  tts: (stack) => stack.includes('SpeechRequest') && stack.includes('onResponseData'),
  bell: (stack) => stack.includes('collectSpeech') && !stack.includes('Pacer'),
  ticker: (stack) => stack.includes('Pacer'),
  ipc: (stack) => stack.includes('shutdownAll'),
};

if (isMainThread && /worker[\\/]main\.js$/.test(process.argv[1] ?? '')) plant();

function plant() {
  /** By scope: the plant of its call. */
  const plants = new Map();
  let storage;
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function (store, ...rest) {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the storage that the worker made is what is looked for
    if (typeof store?.fault === 'function') storage = this;
    return run.call(this, store, ...rest);
  };

  /** Goes off where the time is asked for during the building of a call. */
  let building;
  const passBuilding = () => {
    if (building === undefined || !new Error().stack.includes('new SocketCall')) return;
    const found = building;
    building = undefined;
    goOff(found);
  };

  /** Runs inside callbacks, at places that every one of them passes. */
  const pass = () => {
    passBuilding();
    const scope = storage?.getStore();
    const found = plants.get(scope);
    if (found?.armed !== true) return;
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 100;
    const { stack } = new Error();
    Error.stackTraceLimit = limit;
    if (!kinds[found.kind](stack)) return;
    plants.delete(scope);
    goOff(found);
  };

  const { emit } = process;
  // A listener of our own would let the first message arrive before the worker listens.
  process.emit = function (name, ...args) {
    const id = name === 'message' ? /plant:serve:(\w+)/.exec(args[0]?.url ?? '') : null;
    if (id !== null) building = { id: id[0], how: id[1] };
    return emit.call(this, name, ...args);
  };

  const { isUtf8 } = buffer;
  buffer.isUtf8 = (data) => {
    const text = data.toString();
    const id = /"call_id":"(plant:(\w+):(\w+))"/.exec(text);
    if (id !== null) plants.set(storage?.getStore(), { id: id[1], kind: id[2], how: id[3], armed: false });
    if (text.includes('"digit":"D"')) {
      const found = plants.get(storage?.getStore());
      if (found !== undefined) found.armed = true;
    }
    return isUtf8(data);
  };
  syncBuiltinESMExports();

  const now = performance.now.bind(performance);
  Object.defineProperty(performance, 'now', {
    configurable: true,
    value: () => {
      pass();
      return now();
    },
  });
  whenSent(pass);
}

/** Calls `pass` whenever a socket sends. The sockets' class is inside the bundle: it shows when the first of them is listened to. */
function whenSent(pass) {
  const { on } = EventEmitter.prototype;
  let hasSockets = false;
  EventEmitter.prototype.on = function (...args) {
    if (!hasSockets && typeof this.send === 'function' && typeof this.ping === 'function') {
      hasSockets = true;
      passBySend(this, pass);
    }
    return on.apply(this, args);
  };
}

/** Every socket of the class of this one asks `pass` whenever it sends. */
function passBySend(socket, pass) {
  let owner = socket;
  while (!Object.hasOwn(owner, 'send')) owner = Object.getPrototypeOf(owner);
  const { send } = owner;
  owner.send = function (...args) {
    pass();
    return send.apply(this, args);
  };
}

function goOff({ id, how }) {
  const error = new Error(`planted ${id}`);
  if (how === 'throw') throw error;
  if (how === 'reject') void Promise.reject(error);
  else setImmediate(() => new EventEmitter().emit('error', error));
}
