/** What the hosts of a fleet share, where they have a store (SVC_TOKEN_STORE_URL): one line to it, and what goes by it. */
import { randomBytes } from 'node:crypto';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { WarningLog } from '../admission/token-store.ts';
import { Hosts } from './hosts.ts';
import { RedisLine } from './redis-line.ts';
import { SharedAddresses } from './shared-addresses.ts';

/** A store that is there has been reached by then. */
const reachedWithinMs = 3_000;

export interface Fleet {
  readonly line: RedisLine;
  readonly addresses: SharedAddresses;
  /** Absent where there are no telephone calls that somebody could tell another host of. */
  readonly hosts: Hosts | undefined;
}

export function newFleet(
  { access, twilio, telnyx }: Pick<ServerSettings, 'access' | 'twilio' | 'telnyx'>,
  given: { readonly clock: Clock; readonly wallClock: WallClock; readonly log: WarningLog },
): Fleet | undefined {
  if (access.tokenStore === undefined) return undefined;
  const line = new RedisLine(access.tokenStore, given);
  given.clock.after(reachedWithinMs, () => void tellUnlessReached(line, given.log));
  const hasCarriers = twilio?.control !== undefined || telnyx?.control !== undefined;
  return {
    line,
    addresses: new SharedAddresses({ ...given, line, host: randomBytes(9).toString('base64url') }),
    hosts: hasCarriers ? new Hosts({ ...given, line }) : undefined,
  };
}

/** A wrong address or password is told at the start, and not by the first caller who is turned away. */
async function tellUnlessReached(line: RedisLine, log: WarningLog): Promise<void> {
  const answer = await line.ask((client) => client.ping());
  if (!answer.ok)
    log.warn({ reason: answer.error }, 'the token store gives no answer; session tokens are refused');
}
