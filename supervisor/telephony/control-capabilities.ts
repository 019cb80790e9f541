/** What calls of each carrier can be made to do, by the settings. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { TelephonyDefinition } from '../../shared/telephony/agent-file.ts';
import type { CarrierName, ControlCapabilities } from '../../shared/telephony/call-control.ts';

type Telephones = Pick<ServerSettings, 'twilio' | 'telnyx' | 'callback' | 'sip'>;

export function controlCapabilities({
  twilio,
  telnyx,
  callback,
  sip,
}: Telephones): Partial<Readonly<Record<CarrierName, ControlCapabilities>>> {
  // Warm transfers are completed by somebody who asks there.
  const hasDesk = callback !== undefined;
  return {
    ...(twilio?.control !== undefined && {
      carrier_a: { transfer: true, warm: hasDesk, keys: twilio.resumesStream },
    }),
    ...(telnyx?.control !== undefined && {
      carrier_b: { transfer: true, warm: hasDesk && telnyx.control.connectionId !== '', keys: true },
    }),
    ...(sip !== undefined && { sip: { transfer: sip.refers, warm: false, keys: true } }),
  };
}

/** Transfers that the agent file wants and calls are not offered, by the variable that is missing: the agent says nothing of it. */
export function missingTransfers(
  { destinations, warmTransfer }: Pick<TelephonyDefinition, 'destinations' | 'warmTransfer'>,
  settings: Telephones,
): readonly string[] {
  if (destinations.size === 0) return [];
  const { twilio, telnyx, callback, sip } = settings;
  const desk = callback === undefined ? 'SVC_CALLBACK_ADDR' : undefined;
  const connection = telnyx?.control?.connectionId === '' ? 'SVC_CARRIER_B_CONNECTION_ID' : undefined;
  const of = (
    name: string,
    carrier: { readonly control?: object } | undefined,
    lacks: { readonly account: string; readonly warm: string | undefined },
  ): string[] => {
    if (carrier === undefined) return [];
    if (carrier.control === undefined)
      return [`calls of ${name} cannot be transferred without ${lacks.account}`];
    if (!warmTransfer || lacks.warm === undefined) return [];
    return [`calls of ${name} cannot be transferred warm without ${lacks.warm}`];
  };
  return [
    ...of('carrier A', twilio, { account: 'SVC_CARRIER_A_ACCOUNT_SID', warm: desk }),
    ...of('carrier B', telnyx, { account: 'SVC_CARRIER_B_API_KEY', warm: desk ?? connection }),
    ...(sip === undefined ? [] : lackingBySip(sip.refers, warmTransfer)),
  ];
}

function lackingBySip(refers: boolean, warmTransfer: boolean): readonly string[] {
  if (!refers) return ['calls by SIP cannot be transferred without SVC_SIP_REFER=on'];
  return warmTransfer ? ['calls by SIP cannot be transferred warm: their transfers are cold'] : [];
}
