/**
 * What a tenant's file names may lead to public addresses alone (docs/security.md): each session of such a stage says so, and its connections
 * are made by the addresses that its names really lead to. Literal addresses are looked at as well.
 */
import { Agent, type AgentOptions } from 'node:https';
import { Agent as PlainAgent } from 'node:http';
import { Socket } from 'node:net';
import { isPublicAddress, RefusedAddressError, refuseLiteral } from '../../shared/runtime/address-guard.ts';
import type { StageContext } from './stage.ts';
import { lookup, type Lookup } from './lookup.ts';

/** As `lookup`, for names all of whose addresses are public. */
export const newPublicLookup =
  (find: Lookup): Lookup =>
  (name, options, answered) => {
    find(name, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (error !== null) answered(error, []);
      else if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        answered(new RefusedAddressError(), []);
      else if (options.all === true) answered(null, addresses);
      else answered(null, first.address, first.family);
    });
  };

export const publicLookup = newPublicLookup(lookup);

/** Why a host is not dialled; undefined where it may be. */
export function refusalOf(hostname: string): RefusedAddressError | undefined {
  try {
    refuseLiteral({ hostname });
    return undefined;
  } catch (error) {
    if (error instanceof RefusedAddressError) return error;
    throw error;
  }
}

type Dialled = Parameters<PlainAgent['createConnection']>;

/** A socket that fails as a name does that is refused. */
function refusedSocket(error: Error): Socket {
  const socket = new Socket();
  process.nextTick(() => socket.destroy(error));
  return socket;
}

const hostOf = ([options]: Dialled): string => ('host' in options ? options.host : undefined) ?? '';

export class PublicPlainAgent extends PlainAgent {
  override createConnection(...dialled: Dialled): ReturnType<PlainAgent['createConnection']> {
    const refusal = refusalOf(hostOf(dialled));
    return refusal === undefined ? super.createConnection(...dialled) : refusedSocket(refusal);
  }
}

export class PublicAgent extends Agent {
  constructor(options: AgentOptions) {
    super({ ...options, lookup: publicLookup });
  }

  override createConnection(...dialled: Dialled): ReturnType<Agent['createConnection']> {
    const refusal = refusalOf(hostOf(dialled));
    return refusal === undefined ? super.createConnection(...dialled) : refusedSocket(refusal);
  }
}

interface Opened {
  readonly provider: string;
  open(context: StageContext, ...rest: unknown[]): unknown;
  close(): Promise<void>;
}

/** A stage whose sessions reach public addresses alone. */
export function fenced<S extends { readonly provider: string; close(): Promise<void> }>(stage: S): S {
  const { provider } = stage;
  const inner = stage as unknown as Opened;
  const fencedStage: Opened = {
    provider,
    open: (context, ...rest) =>
      inner.open({ ...context, bind: (callback) => context.bind(callback), isPublicOnly: true }, ...rest),
    close: () => inner.close(),
  };
  // A stage of any kind is opened with a context in front of everything else.
  return fencedStage as unknown as S;
}
