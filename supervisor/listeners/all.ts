/** The listeners of this build, in the order in which they are bound. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { twilioListener } from '../telephony/twilio/listener.ts';
import { callbackListener } from '../telephony/callback/listener.ts';
import { telnyxListener } from '../telephony/telnyx/listener.ts';
import { healthListener } from './health-listener.ts';
import type { CallIngress } from './ingress.ts';
import type { Listener } from './listener.ts';
import { pageListener } from './page-listener.ts';
import { rtviListener } from '../rtvi/listener.ts';
import { iceTcpListener } from '../webrtc/ice-tcp/listener.ts';
import { webrtcListener } from '../webrtc/listener.ts';
import { websocketListener } from './websocket-listener.ts';

const listeners: readonly Listener[] = [
  websocketListener,
  healthListener,
  pageListener,
  twilioListener,
  telnyxListener,
  callbackListener,
  rtviListener,
  webrtcListener,
  iceTcpListener,
];

/** Those that the settings ask for. */
export const wantedListeners = (settings: ServerSettings): readonly Listener[] =>
  listeners.filter(({ isWanted }) => isWanted(settings));

/** How calls come in, by name of the listener. */
export function callIngresses(settings: ServerSettings): ReadonlyMap<string, CallIngress> {
  const ingresses = new Map<string, CallIngress>();
  for (const { name, ingress, others } of wantedListeners(settings)) {
    if (ingress !== undefined) ingresses.set(name, ingress(settings));
    for (const [other, one] of others?.(settings) ?? []) ingresses.set(other, one);
  }
  return ingresses;
}
