/** The server variables of RTVI: where its clients call, and which of them may. Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import type { HostPort } from '../net/address.ts';
import type { AllowedOrigins } from '../net/origin.ts';
import type { Reader } from '../config/server/environment.ts';
import type { Sensitive } from '../config/sensitive.ts';
import { originsVariable } from '../config/server/origins-variable.ts';
import { listenerVariable, secretVariable } from '../config/server/variables.ts';

export interface RtviSettings {
  readonly addr: HostPort;
  readonly token?: Sensitive<string>;
  /** Origins of web pages that may open calls; absent as for SVC_WS_ORIGINS. */
  readonly origins?: AllowedOrigins;
}

export const rtviVariables = {
  rtviAddr: listenerVariable(
    'SVC_RTVI_ADDR',
    'Listener of RTVI, for the clients of Pipecat. Off loopback it needs authentication or SVC_INSECURE_LISTENERS.',
    { port: 8089, unset: 'no RTVI' },
  ),
  rtviToken: secretVariable('SVC_RTVI_TOKEN', 'Static token of the RTVI listener, shared by all clients.'),
  rtviOrigins: originsVariable(
    'SVC_RTVI_ORIGINS',
    'Origins of web pages that may open calls by RTVI, as SVC_WS_ORIGINS has them for the WebSocket protocol.',
  ),
} as const;

export function takeRtvi(reader: Reader): { readonly rtvi?: RtviSettings } {
  const { rtviAddr: addr, rtviToken: token, rtviOrigins: origins } = reader.takeAll(rtviVariables);
  return addr === undefined ? {} : { rtvi: present({ addr, token, origins }) };
}
