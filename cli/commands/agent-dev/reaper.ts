/**
 * Ends the children of a command that was killed. It is a shell that is told of process groups over a pipe, and ends those that are left
 * when the pipe closes: a command that is killed by SIGKILL can do nothing itself any more.
 */
import { spawn, type ChildProcess } from 'node:child_process';

/** Asked to end first, killed two seconds later. A group that is gone by then is left alone. */
const script = `
groups=' '
while read -r word group; do
  case "$word" in
    add) groups="$groups$group " ;;
    gone)
      rest=' '
      for other in $groups; do [ "$other" = "$group" ] || rest="$rest$other "; done
      groups="$rest"
      ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group"; done
[ -z "\${groups# }" ] && exit
sleep 2
for group in $groups; do kill -s KILL -- "-$group"; done
`;

export class Reaper {
  readonly #shell: ChildProcess;

  constructor() {
    // Of a group of its own: what ends the command must not end it.
    this.#shell = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // Without it a command that is killed leaves its children, as any other does.
    this.#shell.on('error', () => undefined);
    this.#shell.stdin?.on('error', () => undefined);
    this.#shell.unref();
  }

  /** Watches over a child that leads a process group, until it has ended. */
  keep(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#shell.stdin?.write(`add ${pid}\n`);
    child.once('exit', () => this.#shell.stdin?.write(`gone ${pid}\n`));
  }
}
