/**
 * The listener of RTVI, the protocol of Pipecat's clients, by WebSocket. Its path is not inspected. Stock clients present their token as
 * `?token=`, and play what they are sent at a rate of their own: `?output_sample_rate=` names it where it is not 24 kHz.
 */
import { assert } from '../../shared/base/assert.ts';
import type { RtviSettings } from '../../shared/rtvi/variables.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { callSampleRates } from '../../shared/protocol/call.ts';
import { rtviEventsIn, rtviKeys, rtviOutputRate } from '../../shared/rtvi/messages.ts';
import { openCallListener } from '../listeners/listeners.ts';
import type { Listener } from '../listeners/listener.ts';
import { tokenIngress } from '../listeners/token-ingress.ts';

const name = 'rtvi';

export const rtviListener: Listener = {
  name,
  variable: 'SVC_RTVI_ADDR',
  isWanted: ({ rtvi }) => rtvi !== undefined,
  ingress: (settings) => {
    const { addr, token, origins } = wanted(settings);
    const { sessionSecrets } = settings.access;
    return tokenIngress({
      transport: 'rtvi',
      pool: { name, most: 2 * settings.maxSessions },
      audience: 'svc-rtvi',
      bind: addr,
      access: {
        sessionSecrets,
        ...(token !== undefined && { wsToken: token }),
        ...(origins !== undefined && { wsOrigins: origins }),
      },
      originsVariable: 'SVC_RTVI_ORIGINS',
      metadata: ({ url }) => ({
        [rtviKeys.transport]: name,
        [rtviKeys.outputRate]: String(outputRateOf(url)),
        ...evalFlagsOf(url),
        [rtviKeys.events]: eventsOf(url),
      }),
    });
  },
  open: ({ settings, arrived }, { given }) =>
    openCallListener({ at: given ?? wanted(settings).addr, name, arrived }),
};

function wanted({ rtvi }: ServerSettings): RtviSettings {
  assert(rtvi !== undefined, 'the settings ask for RTVI');
  return rtvi;
}

const queryOf = (url: string): URLSearchParams => new URLSearchParams(url.split('?')[1] ?? '');

/** What Pipecat's evals ask for in the address, as far as it says something here. */
export function evalFlagsOf(url: string): Record<string, string> {
  const query = queryOf(url);
  const isOn = (key: string): boolean => /^(?:1|true|yes)$/i.test(query.get(key) ?? '');
  return Object.fromEntries(
    [rtviKeys.evalAudio, rtviKeys.evalSilence].flatMap((key) => (isOn(key) ? [[key, 'true']] : [])),
  );
}

/** What the client wants to be told beside what RTVI tells; names that are not known are left out. */
export const eventsOf = (url: string): string => [...rtviEventsIn(queryOf(url).get('events') ?? '')].join();

/** What the client plays; a rate that no call can have is not taken. */
function outputRateOf(url: string): number {
  const asked = Number(queryOf(url).get(rtviKeys.outputRate));
  return callSampleRates.includes(asked) ? asked : rtviOutputRate;
}
