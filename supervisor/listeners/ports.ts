/**
 * The listeners of this supervisor: bound here, or given by the one before it, and left to the one after it. A listening
 * socket that changes hands goes on accepting all the while, because both processes have it.
 */
import type { Server as NetServer } from 'node:net';
import type { Log } from '../../shared/runtime/log.ts';
import { stopAccepting, type OpenListener } from './listeners.ts';
import type { Listener, ListenerContext } from './listener.ts';

/** A connection without a whole request is cut after 5 to 6 s, one between two requests after 5 s. */
const lingerMs = 10_000;

export interface PortsOptions {
  /** The listeners that there are to be, and what they need. */
  readonly listeners: readonly Listener[];
  readonly context: ListenerContext;
  readonly log: Log;
  readonly now: () => number;
}

const obstacles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EACCES: 'this user may not; choose a port from 1024 on',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no address has this name',
  EAI_AGAIN: 'the name cannot be looked up now',
};

/** An address cannot be bound. The message is for the operator, who needs no stack. */
export class CannotListen extends Error {
  /** @param holder the variable of the listener of this service that has the port. */
  constructor(variable: string, cause: unknown, holder?: string) {
    const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
    const obstacle = typeof code === 'string' ? (obstacles[code] ?? 'the system refuses') : '';
    const why =
      typeof code === 'string'
        ? `${holder === undefined ? obstacle : `${holder} has this port; choose another one`} (${code})`
        : // What has no code is no refusal of the system, and says itself what is in the way.
          cause instanceof Error
          ? cause.message
          : 'unknown';
    super(`${variable}: cannot listen ${whereOf(cause)}: ${why}`, { cause });
  }
}

/** The address of a refusal of the system: with a default in force, the operator has never read it. */
function whereOf(cause: unknown): string {
  const address: unknown = cause instanceof Error ? Reflect.get(cause, 'address') : undefined;
  const port: unknown = cause instanceof Error ? Reflect.get(cause, 'port') : undefined;
  return typeof address === 'string' && typeof port === 'number'
    ? `on ${address.includes(':') ? `[${address}]` : address}:${port}`
    : 'there';
}

export class Ports {
  readonly #options: PortsOptions;
  readonly #open = new Map<string, OpenListener>();
  #leftAt: number | undefined;

  constructor(options: PortsOptions) {
    this.#options = options;
  }

  /** Binds every listener that is not open yet. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    for (const listener of this.#options.listeners) {
      if (this.#open.has(listener.name)) continue;
      try {
        await this.#add(listener, undefined);
      } catch (error) {
        throw new CannotListen(listener.variable, error, this.#holderOf(error));
      }
    }
  }

  /** Which listener of ours stands in the way of another one. */
  #holderOf(error: unknown): string | undefined {
    const of = (field: string): unknown => (error instanceof Error ? Reflect.get(error, field) : undefined);
    if (of('code') !== 'EADDRINUSE') return undefined;
    const [name] =
      [...this.#open].find(([, { address }]) => address.endsWith(`:${String(of('port'))}`)) ?? [];
    return this.#options.listeners.find((one) => one.name === name)?.variable;
  }

  /** Accepts on a socket that another process gave, from this very moment on. */
  async take(name: string, given: NetServer): Promise<void> {
    const listener = this.#options.listeners.find((one) => one.name === name);
    if (listener === undefined) given.close();
    else await this.#add(listener, given);
  }

  /** The listening servers, by name. */
  get servers(): ReadonlyMap<string, NetServer> {
    return new Map([...this.#open].map(([name, { server }]) => [name, server]));
  }

  /** Another process accepts from now on. Connections that are here may still say what they want. */
  leave(): void {
    this.#leftAt = this.#options.now();
    this.close();
  }

  close(): void {
    for (const { server } of this.#open.values()) stopAccepting(server);
  }

  /** Connections are left that may still ask for something here, after another process took over. */
  get isLingering(): boolean {
    if (this.#leftAt === undefined || this.#options.now() - this.#leftAt > lingerMs) return false;
    return [...this.#open.values()].some(({ connections }) => connections() > 0);
  }

  async #add({ name, open }: Listener, given: NetServer | undefined): Promise<void> {
    const { context, log } = this.#options;
    const opened = await open(context, { given, isLeaving: () => this.#leftAt !== undefined });
    this.#open.set(name, opened);
    log.info({ listener: name, address: opened.address }, 'listening');
  }
}
