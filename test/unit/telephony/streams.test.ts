/** Streams of one call of carrier B: the end of a former one hangs nobody up who is back on a newer one. */
import { expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { carrierKeys } from '../../../shared/protocol/carrier-a.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { Telephony } from '../../../supervisor/telephony/telephony.ts';
import { FakeCarrierB } from '../../support/telephony/fake-carrier-b.ts';

it('a former stream that is known to be over late hangs nobody up; the last one does', async () => {
  const carrier = await new FakeCarrierB().start();
  const read = parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...carrier.env }, { cores: 2 });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const telephony = new Telephony({
    ...{ settings: read.value.settings, clock: systemClock, wallClock: systemWallClock },
    log: newLog({ role: 'test', level: 'fatal', to: { write: () => undefined } }),
    metrics: newSupervisorMetrics(),
    sip: () => undefined,
  });
  const streamOf = (callId: string): Parameters<Telephony['greet']>[0] =>
    ({ transport: 'carrier_b', signedMetadata: { [carrierKeys.callId]: callId } }) as never;
  const [caller, other] = [streamOf('v3:caller'), streamOf('v3:other')];
  for (const stream of [caller, caller, other]) telephony.greet(stream);
  const hungUp = (): string[] => carrier.of('hangup').map(({ path }) => decodeURIComponent(path));
  telephony.streamOver(caller);
  telephony.streamOver(other);
  await carrier.until(() => hungUp().length > 0);
  expect(hungUp()).toEqual(['/calls/v3:other/actions/hangup']);
  telephony.streamOver(caller);
  await carrier.until(() => hungUp().length > 1);
  expect(hungUp()[1]).toBe('/calls/v3:caller/actions/hangup');
  telephony.close();
  await carrier.close();
});
