/**
 * The process that is to take over: starts it, speaks with it, ends it. It is of a session of its own, so that nothing that
 * ends this supervisor ends it; what it starts belongs to its process group and goes with it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import type { Priorities } from '../children/priorities.ts';
import {
  readToPredecessor,
  takeoverVariable,
  type ToPredecessor,
  type ToSuccessor,
} from '../../shared/protocol/takeover.ts';

/** Sentences of a successor that could not start; more of them would be one problem told many times. */
const maxProblems = 5;

/** How to start this program once more. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This process. */
  readonly pid: number;
}

export interface SuccessorEvents {
  readonly said: (message: ToPredecessor) => void;
  /** It is gone, or what it says makes no sense. Once. */
  readonly failed: (reason: string) => void;
}

/** The new supervisor as the old one uses it. */
export interface SuccessorProcess {
  readonly pid: number | undefined;
  send(message: ToSuccessor): void;
  /** Gives a listening socket; this process keeps its own. */
  giveListener(name: string, server: Server): void;
  /** Gives a socket for datagrams; this process keeps its own. */
  giveSocket(socket: DatagramSocket): void;
  /** Gives a connection. `gone` says whether it is on its way; then this process drops its own. */
  giveArrival(
    message: Extract<ToSuccessor, { type: 'arrival' }>,
    socket: Socket,
    gone: (isGiven: boolean) => void,
  ): void;
  /** Ends it and everything that it started. Its later messages are not heard. */
  kill(): void;
}

export class Successor implements SuccessorProcess {
  readonly #child: ChildProcess;
  readonly #events: SuccessorEvents;
  readonly #priorities: Priorities;
  #problems: readonly string[] = [];
  #hasFailed = false;

  constructor({ command, args, env, pid }: Launch, priorities: Priorities, events: SuccessorEvents) {
    this.#events = events;
    this.#priorities = priorities;
    const start = (): ChildProcess =>
      spawn(command, args, {
        env: { ...env, [takeoverVariable]: String(pid) },
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      });
    // It has all the time it needs, and so has what it starts. It stays in this session: where the kernel shares cores out among
    // sessions, who goes first counts only within one.
    this.#child = priorities.start(start, { isBehind: true });
    this.#child.on('message', (message) => this.#take(message));
    this.#child.on('error', (error) => this.#fail(`the new supervisor cannot be reached: ${error.message}`));
    this.#child.once('exit', (code, signal) =>
      this.#fail(`the new supervisor ended (${signal ?? `status ${code ?? 0}`})${this.#why()}`),
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: ToSuccessor): void {
    // An error shows as the end of the process.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  giveListener(name: string, server: Server): void {
    if (this.#child.connected) this.#child.send({ type: 'listener', name }, server, () => undefined);
  }

  giveSocket(socket: DatagramSocket): void {
    if (this.#child.connected) this.#child.send({ type: 'sip.socket' }, socket, () => undefined);
  }

  giveArrival(
    message: Extract<ToSuccessor, { type: 'arrival' }>,
    socket: Socket,
    gone: (isGiven: boolean) => void,
  ): void {
    if (this.#child.connected)
      this.#child.send(message, socket, { keepOpen: true }, (error) => gone(error === null));
    else gone(false);
  }

  kill(): void {
    this.#hasFailed = true;
    const { pid } = this.#child;
    // Until it leads a process group it has no children.
    this.#child.kill('SIGKILL');
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // Nobody of the group is left.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }

  #why(): string {
    return this.#problems.length === 0 ? '' : `: ${this.#problems.slice(0, maxProblems).join('; ')}`;
  }

  #take(message: unknown): void {
    if (this.#hasFailed) return;
    const read = readToPredecessor(message);
    if (!read.ok) this.#fail(read.error);
    else if (read.value.type === 'failed') this.#problems = read.value.problems;
    else {
      if (read.value.type === 'prepared') this.#priorities.settle(this.#child);
      this.#events.said(read.value);
    }
  }

  #fail(reason: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#events.failed(reason);
  }
}
