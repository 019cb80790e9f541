/** What calls of each carrier can be made to do, by the settings. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { CarrierName, ControlMeans } from '../../shared/protocol/call-control.ts';

export function callMeans({
  carrierA,
}: Pick<ServerSettings, 'carrierA'>): Partial<Readonly<Record<CarrierName, ControlMeans>>> {
  return {
    ...(carrierA?.control !== undefined && {
      carrier_a: { transfer: true, warm: false, keys: carrierA.resumesStream },
    }),
  };
}
