/**
 * Calls that the service made and that no worker ever had: busy, nobody answered, or the carrier found a machine. Each leaves a spool that
 * has ended, of which the process that keeps records makes a record as of any other.
 */
import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { present } from '../../shared/base/present.ts';
import type { CallFact, FactOf } from '../../shared/calls/facts.ts';
import { spoolFile, spoolFolders } from '../../shared/calls/spool.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { systemWallClock, type WallClock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { OutboundEnd } from '../telephony/outbound/outbound-call.ts';

export interface UnreachedCall {
  readonly id: string;
  /** The carrier's own id; empty where nobody knows it. */
  readonly call: string;
  readonly carrier: string;
  readonly beganAt: number;
  readonly end: OutboundEnd;
  readonly to: string;
  readonly agent: string;
  readonly route?: string | undefined;
}

interface UnreachedSite {
  readonly spool: string;
  readonly showsNumbers: boolean;
  /** The number that is called from. */
  readonly from: string | undefined;
  readonly wallClock: WallClock;
  readonly log: Log;
}

function endOf(end: OutboundEnd): Pick<FactOf<'end'>, 'code' | 'by' | 'detail'> {
  if (end === 'voicemail') return { code: 'voicemail' };
  if (end === 'message_left') return { code: 'voicemail', detail: end };
  // The service, or who uses it, has hung up.
  return { code: 'not_connected', detail: end, ...(end === 'canceled' && { by: 'service' }) };
}

/** Metadata of the request stays out: what the agent's privacy takes out of it is known to workers alone. */
function factsOf(made: UnreachedCall, site: UnreachedSite): readonly CallFact[] {
  const { id: session, call, carrier: transport, beganAt: started, end, agent, route } = made;
  const { from } = site;
  const head: FactOf<'call'> = {
    t: 'call',
    v: 1,
    at: 0,
    id: randomUUID(),
    call: call === '' ? session : call,
    session,
    agent,
    direction: 'outbound',
    transport,
    token: {},
    client: {},
    started,
    ...(site.showsNumbers && present({ from, to: made.to })),
    ...(call !== '' && { carrierCall: call }),
    ...present({ route }),
  };
  return [head, { t: 'end', at: Math.max(0, Math.round(site.wallClock.now() - started)), ...endOf(end) }];
}

/** Undefined where no records are kept. */
export function unreachedCalls(
  settings: Pick<ServerSettings, 'calls' | 'callback' | 'telephony'>,
  log: Log,
): ((made: UnreachedCall) => void) | undefined {
  const { calls, callback, telephony } = settings;
  if (calls === undefined) return undefined;
  const site = {
    spool: calls.spool,
    showsNumbers: !telephony.redactsNumbers,
    from: callback?.outbound?.from.reveal(),
    wallClock: systemWallClock,
    log,
  };
  return (made) => void keepUnreached(made, site);
}

/** Writes its spool. Nobody waits for it. */
async function keepUnreached(made: UnreachedCall, site: UnreachedSite): Promise<void> {
  const lines = factsOf(made, site).map((fact) => `${JSON.stringify(fact)}\n`);
  const path = join(site.spool, spoolFolders.ended, spoolFile(randomUUID()));
  try {
    await writeFile(`${path}.part`, lines.join(''), { mode: 0o600 });
    await rename(`${path}.part`, path);
  } catch (error) {
    site.log.warn(
      { outbound: made.id, ...errorFields(error) },
      'a call that reached nobody could not be written down: it has no record',
    );
  }
}
