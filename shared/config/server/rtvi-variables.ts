/** The server variables of RTVI: where its clients call, and who of them may. Part of the list in `server.ts`. */
import { parseHostPort, type HostPort } from '../../net/address.ts';
import { originsForm, parseOrigins, type AllowedOrigins } from '../../net/origin.ts';
import type { Reader } from './environment.ts';
import type { Sensitive } from '../sensitive.ts';
import { readVariable, secretVariable } from './variables.ts';

export interface RtviSettings {
  readonly addr: HostPort;
  readonly token?: Sensitive<string>;
  /** Origins of web pages that may open calls; absent as for SVC_WS_ORIGINS. */
  readonly origins?: AllowedOrigins;
}

export const rtviVariables = {
  rtviAddr: readVariable<HostPort | undefined>(
    'SVC_RTVI_ADDR',
    'Listener of RTVI, for the clients of Pipecat. Off loopback it needs authentication or SVC_INSECURE_LISTENERS.',
    {
      form: 'host:port, [::1]:8089 for IPv6; port 0 takes a free one',
      defaultText: 'unset: no RTVI',
      read: parseHostPort,
      fallback: undefined,
    },
  ),
  rtviToken: secretVariable('SVC_RTVI_TOKEN', 'Static token of the RTVI listener, shared by all clients.'),
  rtviOrigins: readVariable<AllowedOrigins | undefined>(
    'SVC_RTVI_ORIGINS',
    'Origins of web pages that may open calls by RTVI, as SVC_WS_ORIGINS has them for the WebSocket protocol.',
    {
      form: originsForm,
      defaultText: 'none on a loopback address without authentication, else *',
      read: parseOrigins,
      fallback: undefined,
    },
  ),
} as const;

export function takeRtvi(reader: Reader): { readonly rtvi?: RtviSettings } {
  const addr = reader.take(rtviVariables.rtviAddr);
  const token = reader.take(rtviVariables.rtviToken);
  const origins = reader.take(rtviVariables.rtviOrigins);
  if (addr === undefined) return {};
  return {
    rtvi: { addr, ...(token !== undefined && { token }), ...(origins !== undefined && { origins }) },
  };
}
