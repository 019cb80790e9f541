/** Names of what outsiders ask any host of a fleet for; each resource belongs to one host (`supervisor/fleet/hosts.ts`). */
import type { TelnyxEvent } from './telnyx/webhook.ts';
import { textAt } from './rest.ts';

/** What the service gives Telnyx to send back with each event of a call. */
export const marks = {
  /** Calls that came in. */
  inbound: 'svc:in:',
  /** Legs of transfers. */
  leg: 'svc:leg:',
  /** Legs of cold transfers, with the id of the caller's call. */
  cold: 'svc:to:',
  /** Calls that were made here: those in which the carrier finds out who answers, and the others. */
  outbound: 'svc:out:',
  unscreened: 'svc:own:',
} as const;

/** The mark of an event of Telnyx, and what follows it. */
export const stateOfB = (payload: TelnyxEvent['payload']): string =>
  Buffer.from(textAt(payload, 'client_state'), 'base64').toString();

export const resourceNames = {
  /** By the carrier's id. */
  call: (callId: string): string => `call:${callId}`,
  transfer: (handle: string): string => `transfer:${handle}`,
  made: (id: string): string => `made:${id}`,
  key: (key: string): string => `key:${key}`,
  event: (id: string): string => `event:${id}`,
  ofTelnyx: ({ payload }: TelnyxEvent): string => {
    const state = stateOfB(payload);
    const after = (mark: string): string => state.slice(mark.length);
    if (state.startsWith(marks.outbound)) return resourceNames.made(after(marks.outbound));
    if (state.startsWith(marks.unscreened)) return resourceNames.made(after(marks.unscreened));
    if (state.startsWith(marks.leg)) return resourceNames.transfer(after(marks.leg));
    return resourceNames.call(
      state.startsWith(marks.cold) ? after(marks.cold) : textAt(payload, 'call_control_id'),
    );
  },
} as const;
