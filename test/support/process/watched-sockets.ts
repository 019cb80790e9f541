/**
 * What the processes of a command reach for on the network, native code included, as the kernel was asked for it: strace prints the
 * calls that name an address.
 *
 * Limits: it sees addresses, not names; a look-up shows as the resolver's address, or as the socket of a resolver on this machine.
 * Where strace is missing or may not trace, nothing can be said.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const calls = 'connect,sendto,sendmsg,sendmmsg,getsockname';

const options = ['-f', '-qq', '--seccomp-bpf', '-e', `trace=${calls}`, '-e', 'signal=none'];

/** What a command is started through; it keeps its process id, and its children are watched as well. */
export const watchedBy = (file: string): readonly string[] => ['strace', '-D', ...options, '-o', file];

/** Empty, or why nothing can be watched here. */
export function whyUnwatched(): string {
  const { status } = spawnSync('strace', [...options, 'true'], { stdio: 'ignore' });
  return status === 0 ? '' : 'strace is missing, or may not trace here';
}

const inet =
  /sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"/g;
const resolver = /sa_family=AF_UNIX, sun_path="([^"]*(?:nscd|resolve|avahi)[^"]*)"/g;

/**
 * `address:port` of everything that was reached for, and the paths of resolvers' sockets, each once. What the processes listen on
 * themselves, as they learned from the kernel, is left out.
 */
export function reachedFor(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const addressesIn = (isOwn: boolean): string[] =>
    lines
      .filter((line) => line.includes('getsockname') === isOwn)
      .flatMap((line) => [...line.matchAll(inet)].map(([, port, address]) => `${address}:${port}`));
  const own = new Set(addressesIn(true));
  const others = addressesIn(false).filter((address) => !own.has(address));
  const paths = lines.flatMap((line) => [...line.matchAll(resolver)].map(([, path]) => path ?? ''));
  return [...new Set([...others, ...paths])];
}
