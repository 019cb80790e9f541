/** The server variables of operators who listen in: one token for each role. Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import type { Reader } from '../config/server/environment.ts';
import type { Sensitive } from '../config/sensitive.ts';
import { secretVariable } from '../config/server/variables.ts';
import type { MonitorRole } from './messages.ts';

/** Tokens by the role that each gives; a role includes those before it. */
export type MonitorSettings = Partial<Readonly<Record<MonitorRole, Sensitive<string>>>>;

export const liveToken = secretVariable(
  'SVC_LIVE_TOKEN',
  'Bearer token of /live, the view of running calls; unset: /live is off. The token also allows ending calls.',
);

const needs = 'It needs SVC_LIVE_TOKEN beside it; unset: nobody may.';

export const monitorVariables = {
  monitorListenToken: secretVariable(
    'SVC_MONITOR_LISTEN_TOKEN',
    `Token of operators who may listen to running calls. ${needs}`,
  ),
  monitorWhisperToken: secretVariable(
    'SVC_MONITOR_WHISPER_TOKEN',
    `Token of operators who may listen, and whisper to the agent. ${needs}`,
  ),
  monitorTakeOverToken: secretVariable(
    'SVC_MONITOR_TAKE_OVER_TOKEN',
    `Token of operators who may listen, whisper, and speak to the caller in the agent's place. ${needs}`,
  ),
} as const;

/** @param live SVC_LIVE_TOKEN: without the live view nobody finds a call. */
export function takeMonitor(
  reader: Reader,
  live: Sensitive<string> | undefined,
): { readonly monitor?: MonitorSettings } {
  const taken = reader.takeAll(monitorVariables);
  const monitor = present({
    listen: taken.monitorListenToken,
    whisper: taken.monitorWhisperToken,
    take_over: taken.monitorTakeOverToken,
  });
  const known = new Set<string>();
  for (const [key, variable] of Object.entries(monitorVariables)) {
    const token = taken[key as keyof typeof taken]?.reveal();
    if (token === undefined) continue;
    if (live === undefined) reader.refuse(variable, 'needs SVC_LIVE_TOKEN beside it');
    if (known.has(token) || token === live?.reveal())
      reader.refuse(variable, 'must differ from the tokens of other roles and from SVC_LIVE_TOKEN');
    known.add(token);
  }
  return Object.keys(monitor).length === 0 ? {} : { monitor };
}

/** The tokens that are set, by the variable of each. */
export const monitorTokens = ({ listen, whisper, take_over: takeOver }: MonitorSettings = {}) =>
  [
    [monitorVariables.monitorListenToken, listen],
    [monitorVariables.monitorWhisperToken, whisper],
    [monitorVariables.monitorTakeOverToken, takeOver],
  ] as const;
