/** A datagram socket of the local family, as a service manager has one; Node has none of its own. */
import koffi from 'koffi';

const lib = koffi.load(null);
const socket = lib.func('int socket(int domain, int type, int protocol)') as (...numbers: number[]) => number;
const bind = lib.func('int bind(int fd, const uint8_t *address, uint32_t length)') as (
  fd: number,
  address: Uint8Array,
  length: number,
) => number;
const recv = lib.func('int64_t recv(int fd, _Out_ uint8_t *bytes, size_t length, int flags)') as (
  fd: number,
  bytes: Uint8Array,
  length: number,
  flags: number,
) => number;
const closeFd = lib.func('int close(int fd)') as (fd: number) => number;

const afUnix = 1;
const dontWait = 0x40;

export class Datagrams {
  readonly #fd = socket(afUnix, 2 | 0o2000000, 0);

  /** `name` is a path, or a name in the abstract space behind an `@`. */
  constructor(name: string) {
    const path = Buffer.from(name.startsWith('@') ? `\0${name.slice(1)}` : `${name}\0`);
    const address = Buffer.concat([new Uint8Array(new Uint16Array([afUnix]).buffer), path]);
    if (bind(this.#fd, address, address.length) !== 0) throw new Error('the socket cannot be bound');
  }

  /** What has come since the last look. */
  take(): string[] {
    const texts: string[] = [];
    const bytes = new Uint8Array(4096);
    for (;;) {
      const length = recv(this.#fd, bytes, bytes.length, dontWait);
      if (length < 0) return texts;
      texts.push(Buffer.from(bytes.subarray(0, length)).toString());
    }
  }

  close(): void {
    closeFd(this.#fd);
  }
}
