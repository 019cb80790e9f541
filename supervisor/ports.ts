/**
 * The listeners of this supervisor: bound here, or given by the one before it, and left to the one after it. A listening
 * socket that changes hands goes on accepting all the while, because both processes have it.
 */
import type { Server } from 'node:http';
import type { Server as NetServer } from 'node:net';
import type { ServerSettings } from '../shared/config/server.ts';
import type { Log } from '../shared/runtime/log.ts';
import { openHealthListener, type HealthOptions } from './health.ts';
import { openCallListener, stopAccepting, type Arrived, type OpenListener } from './listeners.ts';
import { openPageListener, type PageListenerOptions } from './page-listener.ts';

/** A connection without a whole request is cut after 5 to 6 s, one between two requests after 5 s. */
const lingerMs = 10_000;

export interface PortsOptions {
  readonly settings: ServerSettings;
  readonly log: Log;
  readonly now: () => number;
  readonly arrived: (arrived: Arrived) => void;
  readonly unready: HealthOptions['unready'];
  readonly counts: HealthOptions['counts'];
  readonly renderMetrics: HealthOptions['renderMetrics'];
  readonly page: Pick<PageListenerOptions, 'agentName' | 'tokens' | 'look'>;
}

const variables = { websocket: 'SVC_WS_ADDR', health: 'SVC_HEALTH_ADDR', page: 'SVC_PAGE_ADDR' } as const;

const obstacles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EACCES: 'this user may not; choose a port from 1024 on',
  EADDRNOTAVAIL: 'this machine has no such address',
};

/** An address cannot be bound. The message is for the operator, who needs no stack. */
export class CannotListen extends Error {
  constructor(variable: string, cause: unknown) {
    const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
    const text = typeof code === 'string' ? code : 'unknown';
    super(`${variable}: cannot listen there: ${obstacles[text] ?? 'the system refuses'} (${text})`, {
      cause,
    });
  }
}

const listeners = ['websocket', 'health', 'page'] as const;
type ListenerName = (typeof listeners)[number];

/** The built page, beside the program. */
const pageFolder = new URL('../web/', import.meta.url);

export class Ports {
  readonly #options: PortsOptions;
  readonly #open = new Map<string, OpenListener>();
  #leftAt: number | undefined;

  constructor(options: PortsOptions) {
    this.#options = options;
  }

  /** Binds every listener that is not open yet. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    for (const name of this.#names()) {
      if (this.#open.has(name)) continue;
      try {
        await this.#add(name, undefined);
      } catch (error) {
        throw new CannotListen(variables[name], error);
      }
    }
  }

  /** Accepts on a socket that another process gave, from this very moment on. */
  async take(name: string, given: NetServer): Promise<void> {
    const known = this.#names().find((one) => one === name);
    if (known === undefined) given.close();
    else await this.#add(known, given);
  }

  /** The listening servers, by name. */
  get servers(): ReadonlyMap<string, Server> {
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

  /** Those that the settings ask for. */
  #names(): readonly ListenerName[] {
    const { page } = this.#options.settings;
    return listeners.filter((name) => name !== 'page' || page !== undefined);
  }

  async #add(name: ListenerName, given: NetServer | undefined): Promise<void> {
    const listener = await this.#openOne(name, given);
    this.#open.set(name, listener);
    this.#options.log.info({ listener: name, address: listener.address }, 'listening');
  }

  #openOne(name: ListenerName, given: NetServer | undefined): Promise<OpenListener> {
    switch (name) {
      case 'websocket':
        return this.#openCalls(given);
      case 'health':
        return this.#openHealth(given);
      case 'page':
        return this.#openPage(given);
    }
  }

  #openCalls(given: NetServer | undefined): Promise<OpenListener> {
    const { settings, arrived } = this.#options;
    return openCallListener({ at: given ?? settings.ws.addr, arrived });
  }

  #openHealth(given: NetServer | undefined): Promise<OpenListener> {
    const { settings, unready, counts, renderMetrics } = this.#options;
    return openHealthListener({
      addr: settings.health.addr,
      ...(given !== undefined && { given }),
      metrics: settings.health.metrics,
      metricsToken: settings.health.metricsToken?.reveal(),
      unready: () => (this.#leftAt === undefined ? unready() : undefined),
      counts,
      renderMetrics,
      isLeaving: () => this.#leftAt !== undefined,
    });
  }

  #openPage(given: NetServer | undefined): Promise<OpenListener> {
    const { settings, arrived, page } = this.#options;
    if (settings.page === undefined) throw new Error('no page is asked for');
    return openPageListener({
      at: given ?? settings.page.addr,
      folder: pageFolder,
      tokenUrl: settings.page.tokenUrl,
      ...page,
      arrived,
      isLeaving: () => this.#leftAt !== undefined,
    });
  }
}
