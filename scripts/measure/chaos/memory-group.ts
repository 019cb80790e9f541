/** A control group for the memory of the service, version 1 or 2, so that a run can take some of it away. Needs root. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Files {
  readonly root: string;
  readonly use: string;
  readonly limit: string;
  readonly unlimited: string;
}

const versions: readonly Files[] = [
  {
    root: '/sys/fs/cgroup/memory',
    use: 'memory.usage_in_bytes',
    limit: 'memory.limit_in_bytes',
    unlimited: '-1',
  },
  { root: '/sys/fs/cgroup', use: 'memory.current', limit: 'memory.max', unlimited: 'max' },
];

/** Shares of what is in use; the first that the kernel takes. It refuses what it could reach by killing alone, where it is of version 1. */
const shares = [0.9, 0.95, 1, 1.005];

export class MemoryGroup {
  readonly #folder: string;
  readonly #files: Files;

  private constructor(folder: string, files: Files) {
    this.#folder = folder;
    this.#files = files;
  }

  /** Throws where this machine has no such groups, or does not let this process make one. */
  static create(): MemoryGroup {
    for (const files of versions) {
      const folder = join(files.root, `voice-chaos-${process.pid}`);
      if (!existsSync(files.root)) continue;
      mkdirSync(folder);
      if (existsSync(join(folder, files.limit))) return new MemoryGroup(folder, files);
      rmdirSync(folder);
    }
    throw new Error('memory-limit needs control groups for memory, and root');
  }

  /** A command that runs the rest of its arguments in the group. */
  get command(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${join(this.#folder, 'cgroup.procs')} && exec "$@"`, 'sh'];
  }

  /** Leaves the group less memory than it uses, or as little more as the kernel takes. Says how much. */
  squeeze(): string {
    const use = Number(readFileSync(join(this.#folder, this.#files.use), 'utf8'));
    for (const share of shares)
      if (this.#limit(String(Math.round(use * share))))
        return `${Math.round(share * 1000) / 10} % of ${Math.round(use / 1e6)} MB`;
    throw new Error('the kernel takes no limit for memory');
  }

  release(): void {
    this.#limit(this.#files.unlimited);
  }

  /** False while processes are left in it. */
  remove(): boolean {
    try {
      rmdirSync(this.#folder);
      return true;
    } catch {
      return false;
    }
  }

  #limit(value: string): boolean {
    try {
      writeFileSync(join(this.#folder, this.#files.limit), value);
      return true;
    } catch {
      return false;
    }
  }
}
