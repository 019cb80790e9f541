/**
 * Memory that processes share: an anonymous file (memfd) that every process and thread maps for itself. Its descriptor is
 * inherited through `stdio` of a forked child, it has no name, and it is gone with the last process. `Atomics.load` and
 * `Atomics.store` on the mapping work between processes; `Atomics.wait` does not. A mapping is never unmapped,
 * because views of it may be alive.
 */
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';
import { assert } from '../base/assert.ts';

type Koffi = typeof koffiModule;

const protReadWrite = 3;
const mapShared = 1;
const afUnix = 1;
const sockStream = 1;
/** Both ends of a new pair must not leak into unrelated children. */
const sockCloexec = 0o2000000;
const mfdCloexec = 1;
const rlimitNofile = 7;
const lockExclusive = 2;
const lockNonBlocking = 4;

interface LibC {
  memfdCreate(name: string, flags: number): number;
  ftruncate(fd: number, bytes: number): number;
  mmap(address: null, bytes: number, prot: number, flags: number, fd: number, offset: number): unknown;
  socketpair(domain: number, type: number, protocol: number, fds: Int32Array): number;
  getrlimit(resource: number, limits: BigUint64Array): number;
  setrlimit(resource: number, limits: BigUint64Array): number;
  flock(fd: number, operation: number): number;
}

let loaded: { koffi: Koffi; libc: LibC } | undefined;

/** Loaded on first use, so that processes which share nothing (the terminal caller) do not pay for it. */
function native(): { koffi: Koffi; libc: LibC } {
  if (loaded !== undefined) return loaded;
  const koffi = createRequire(import.meta.url)('koffi') as Koffi;
  const lib = koffi.load(null);
  const libc: LibC = {
    memfdCreate: lib.func('int memfd_create(const char *name, unsigned int flags)') as LibC['memfdCreate'],
    ftruncate: lib.func('int ftruncate(int fd, int64_t length)') as LibC['ftruncate'],
    mmap: lib.func(
      'void *mmap(void *addr, size_t length, int prot, int flags, int fd, int64_t offset)',
    ) as LibC['mmap'],
    socketpair: lib.func(
      'int socketpair(int domain, int type, int protocol, _Out_ int *sv)',
    ) as LibC['socketpair'],
    getrlimit: lib.func('int getrlimit(int resource, _Out_ uint64_t *rlim)') as LibC['getrlimit'],
    setrlimit: lib.func('int setrlimit(int resource, uint64_t *rlim)') as LibC['setrlimit'],
    flock: lib.func('int flock(int fd, int operation)') as LibC['flock'],
  };
  loaded = { koffi, libc };
  return loaded;
}

/** Creates zeroed shared memory of `bytes` and returns its descriptor. Pages cost nothing until they are touched. */
export function createSharedMemory(name: string, bytes: number): number {
  const { libc } = native();
  const fd = libc.memfdCreate(name, mfdCloexec);
  assert(fd >= 0, 'memfd_create gives a descriptor');
  assert(libc.ftruncate(fd, bytes) === 0, 'ftruncate sizes the shared memory');
  return fd;
}

/**
 * Maps shared memory into this thread, from `offset` on, a multiple of the size of a page. The buffer must not be transferred to another
 * thread: it would be copied.
 */
export function mapSharedMemory(fd: number, bytes: number, offset = 0): ArrayBuffer {
  const { koffi, libc } = native();
  const address = libc.mmap(null, bytes, protReadWrite, mapShared, fd, offset);
  assert(address !== null, 'mmap gives an address');
  const view = koffi.view(address, bytes);
  assert(view.byteLength === bytes, 'the mapping has the length that was asked for');
  return view;
}

/** Maps a file in parts of these lengths, one behind the other. */
export function mapInParts(fd: number, lengths: readonly number[]): readonly ArrayBuffer[] {
  let offset = 0;
  return lengths.map((bytes) => {
    offset += bytes;
    return mapSharedMemory(fd, bytes, offset - bytes);
  });
}

/** A connected pair of stream sockets, for signals between two children of this process. */
export function createSocketPair(): readonly [number, number] {
  const { libc } = native();
  const fds = new Int32Array(2);
  assert(libc.socketpair(afUnix, sockStream | sockCloexec, 0, fds) === 0, 'socketpair gives two descriptors');
  return [fds[0] ?? -1, fds[1] ?? -1];
}

/**
 * Raises the soft limit of open files to the hard limit (docs/scale.md, What each limit of the machine does). Returns what is in force afterwards.
 */
export function raiseOpenFileLimit(): { soft: number; hard: number; raised: boolean } {
  const { libc } = native();
  const limits = new BigUint64Array(2);
  if (libc.getrlimit(rlimitNofile, limits) !== 0) return { soft: 0, hard: 0, raised: false };
  const hard = limits[1] ?? 0n;
  const raised = libc.setrlimit(rlimitNofile, new BigUint64Array([hard, hard])) === 0;
  return { soft: Number(raised ? hard : (limits[0] ?? 0n)), hard: Number(hard), raised };
}

/**
 * Whether this open file has the lock of its file now. One has it at a time, until it is closed, which the system does for a process that
 * dies; other containers of the machine are seen as well.
 */
export const lockFile = (fd: number): boolean =>
  native().libc.flock(fd, lockExclusive | lockNonBlocking) === 0;
