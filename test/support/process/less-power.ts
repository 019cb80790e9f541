/**
 * Commands that run another command with less power than the tests may have: tests run as root on build servers and in containers, where
 * no file is unreadable and no port is forbidden.
 */
import { spawnSync } from 'node:child_process';

const isRoot = process.getuid?.() === 0;

const works = (command: readonly string[]): boolean =>
  spawnSync(command[0]!, [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0;

const without = (capabilities: readonly string[]): readonly string[] =>
  isRoot
    ? [
        'setpriv',
        ...['--bounding-set', '--inh-caps'].flatMap((set) => [
          set,
          capabilities.map((one) => `-${one}`).join(),
        ]),
      ]
    : ['env'];

/** Obeys the permissions of files. */
export const obeyingModes = without(['dac_override', 'dac_read_search']);

/** May not listen on ports below 1024. */
export const withoutLowPorts = without(['net_bind_service']);

/** Finds an empty file system that nobody can write to at `folder`, which must exist. */
export const readOnlyAt = (folder: string): readonly string[] => [
  ...['unshare', ...(isRoot ? [] : ['-r']), '-m', 'sh', '-c'],
  `mount -t tmpfs -o ro none '${folder}' && exec "$@"`,
  'sh',
];

export const canObeyModes = works(obeyingModes);
export const canMount = works(readOnlyAt('/mnt'));
