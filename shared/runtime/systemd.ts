/**
 * Tells the service manager (systemd) what the service does, by datagrams to the socket that it names in NOTIFY_SOCKET. Node has
 * no datagram sockets of this family, so the C library sends them. Without the variable nothing is told.
 */
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';
import type { Millis } from '../base/units.ts';

export interface Systemd {
  /** The manager wants to hear `WATCHDOG=1` at least this often; undefined when it does not ask. */
  readonly watchdogMs: Millis | undefined;
  /** Lines such as `READY=1`. False when the manager could not be told. */
  tell(...lines: readonly string[]): boolean;
}

const afUnix = 1;
/** Datagrams; the socket is not inherited, and a full receiver is not waited for. */
const socketType = 2 | 0o2000000 | 0o4000;
/** Bytes of the path in an address. */
const maxPathBytes = 107;

interface LibC {
  socket(domain: number, type: number, protocol: number): number;
  sendto(
    fd: number,
    bytes: Uint8Array,
    length: number,
    flags: number,
    address: Uint8Array,
    addressLength: number,
  ): number;
  close(fd: number): number;
}

let loaded: LibC | undefined;

function native(): LibC {
  if (loaded !== undefined) return loaded;
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  const lib = koffi.load(null);
  loaded = {
    socket: lib.func('int socket(int domain, int type, int protocol)') as LibC['socket'],
    sendto: lib.func(
      'int64_t sendto(int fd, const uint8_t *bytes, size_t length, int flags, const uint8_t *address, uint32_t addressLength)',
    ) as LibC['sendto'],
    close: lib.func('int close(int fd)') as LibC['close'],
  };
  return loaded;
}

/**
 * NOTIFY_SOCKET is a path, or a name in the abstract space behind an `@`. WATCHDOG_USEC counts microseconds. WATCHDOG_PID is not asked:
 * after a restart without a gap it names the process before, and the manager watches the one that serves.
 */
export function newSystemd(env: Readonly<Record<string, string | undefined>>): Systemd {
  const socketName = env['NOTIFY_SOCKET'] ?? '';
  if (socketName === '') return { watchdogMs: undefined, tell: () => true };
  const watchdogMs = Number(env['WATCHDOG_USEC'] ?? Number.NaN) / 1000;
  return {
    watchdogMs: watchdogMs > 0 ? watchdogMs : undefined,
    tell: (...lines) => send(socketName, lines.join('\n')),
  };
}

function send(socketName: string, text: string): boolean {
  const path = Buffer.from(socketName.startsWith('@') ? `\0${socketName.slice(1)}` : socketName);
  if (path.length > maxPathBytes) return false;
  const libc = native();
  const fd = libc.socket(afUnix, socketType, 0);
  if (fd < 0) return false;
  // struct sockaddr_un: the family in the byte order of the machine, then the path; its end is the end of the address.
  const family = new Uint8Array(new Uint16Array([afUnix]).buffer);
  const end = socketName.startsWith('@') ? [] : [Buffer.from([0])];
  const address = Buffer.concat([family, path, ...end]);
  const bytes = Buffer.from(text);
  const sent = libc.sendto(fd, bytes, bytes.length, 0, address, address.length);
  libc.close(fd);
  return sent === bytes.length;
}
