/** What calls of each carrier can be made to do, by the settings. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { CarrierName, ControlMeans } from '../../shared/protocol/call-control.ts';

export function callMeans({
  carrierA,
  carrierB,
  callback,
  sip,
}: Pick<ServerSettings, 'carrierA' | 'carrierB' | 'callback' | 'sip'>): Partial<
  Readonly<Record<CarrierName, ControlMeans>>
> {
  // Warm transfers are completed by somebody who asks there.
  const hasDesk = callback !== undefined;
  return {
    ...(carrierA?.control !== undefined && {
      carrier_a: { transfer: true, warm: hasDesk, keys: carrierA.resumesStream },
    }),
    ...(carrierB?.control !== undefined && {
      carrier_b: { transfer: true, warm: hasDesk && carrierB.control.connectionId !== '', keys: true },
    }),
    ...(sip !== undefined && { sip: { transfer: sip.refers, warm: false, keys: true } }),
  };
}
