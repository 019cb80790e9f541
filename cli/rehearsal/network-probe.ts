/** The way to a server, one step after the other, each with its time: the name, then the connection with its TLS. */
import { lookup } from 'node:dns';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../shared/runtime/clock.ts';
import { connectionError } from '../../worker/stages/connect.ts';
import { explained } from '../../worker/stages/failure.ts';
import type { StageError } from '../../worker/stages/stage.ts';

/** Each of the two. */
const stepMs = 3_000;

export interface Step {
  readonly what: string;
  readonly ms: number;
}

export interface Way {
  readonly steps: readonly Step[];
  /** Why it ends here. */
  readonly error?: StageError;
}

/** Judges an address before anything is sent to it. */
export type MayReach = (address: string) => boolean;

/** Resolves the host of the address and connects to it; sends nothing. */
export async function probeWay(
  url: URL,
  { clock, mayReach }: { clock: Clock; mayReach?: MayReach },
): Promise<Way> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const steps: Step[] = [];
  const timed = async <T>(what: string, work: Promise<T>): Promise<T> => {
    const startedAt = clock.now();
    const found = await work;
    steps.push({ what, ms: clock.now() - startedAt });
    return found;
  };
  try {
    const address = isIP(host) === 0 ? await timed('resolved', resolve(host, clock)) : host;
    if (mayReach?.(address) === false) {
      const error = explained({ kind: 'disconnected' }, { code: 'ADDRESS_REFUSED' }, { beforeCall: true });
      return { steps, error };
    }
    await timed('connected', open(url, { host, address, clock }));
    return { steps };
  } catch (error) {
    return { steps, error: error instanceof StepTimeout ? error.stageError : stageErrorOf(error) };
  }
}

const stageErrorOf = (error: unknown): StageError =>
  error instanceof Error ? connectionError(error) : { kind: 'disconnected' };

class StepTimeout extends Error {
  readonly stageError: StageError;

  constructor(what: string) {
    super(what);
    this.stageError = { kind: 'timeout', what };
  }
}

function resolve(host: string, clock: Clock): Promise<string> {
  return new Promise((found, failed) => {
    const timer = clock.after(stepMs, () => failed(new StepTimeout('name lookup')));
    lookup(host, (error, address) => {
      timer.cancel();
      if (error === null) found(address);
      else failed(error);
    });
  });
}

function open(
  url: URL,
  { host, address, clock }: { readonly host: string; readonly address: string; readonly clock: Clock },
): Promise<void> {
  const isSecure = url.protocol === 'wss:' || url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return new Promise((opened, failed) => {
    const socket: Socket = isSecure
      ? connectTls({ host: address, port, ...(isIP(host) === 0 && { servername: host }) })
      : connect({ host: address, port });
    const end = (): void => {
      timer.cancel();
      socket.destroy();
    };
    const timer = clock.after(stepMs, () => {
      end();
      failed(new StepTimeout('connect'));
    });
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      end();
      opened();
    });
    socket.on('error', (error) => {
      end();
      failed(error);
    });
  });
}
