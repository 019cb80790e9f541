/** The server variables of calls out by SIP: the trunk that they go through, and whether calls may be handed on. */
import type { Sensitive } from '../config/sensitive.ts';
import type { Reader } from '../config/server/environment.ts';
import { readVariable, secretVariable, switchVariable } from '../config/server/variables.ts';
import { nameForm, readName, readPlace, type SipPlace } from './registration.ts';

/** Where calls of this side go. `user` is empty where calls come from their number alone. */
export interface SipTrunk extends SipPlace {
  /** Name that signs in. */
  readonly signsInAs: string;
  readonly password: Sensitive<string> | undefined;
}

const trunkForm = 'sip:host or sip:account@host, with :port and ;transport=udp, tcp or tls where needed';

export const sipTrunkVariables = {
  sipTrunk: readVariable<SipPlace | undefined>(
    'SVC_SIP_TRUNK',
    'Trunk or PBX that calls of the service go through (SVC_OUTBOUND_FROM). With an account, calls come from that, and the number is said beside it.',
    {
      form: trunkForm,
      defaultText: 'unset: no calls by SIP',
      read: (value) => readPlace(value, { form: trunkForm, needsUser: false }),
      fallback: undefined,
    },
  ),
  sipTrunkUser: readVariable<string>('SVC_SIP_TRUNK_USER', 'Name that signs in at the trunk (digest).', {
    form: nameForm,
    defaultText: 'the account of SVC_SIP_TRUNK',
    read: readName,
    fallback: '',
  }),
  sipTrunkPassword: secretVariable('SVC_SIP_TRUNK_PASSWORD', 'Password that belongs to it.'),
  sipRefer: switchVariable(
    'SVC_SIP_REFER',
    'Callers may be transferred by REFER, if their trunk or PBX allows it. The peer then decides which numbers may be called.',
    false,
  ),
} as const;

export function takeSipTrunk(
  reader: Reader,
  has: { readonly UDP: boolean; readonly TLS: boolean },
): SipTrunk | undefined {
  const { sipTrunk, sipTrunkUser, sipTrunkPassword } = sipTrunkVariables;
  const taken = reader.takeAll({ sipTrunk, sipTrunkUser, sipTrunkPassword });
  const { sipTrunk: place, sipTrunkUser: user, sipTrunkPassword: password } = taken;
  if (place === undefined) {
    if (password !== undefined) reader.refuse(sipTrunkPassword, `must not be set without ${sipTrunk.name}`);
    return undefined;
  }
  const signsInAs = user === '' ? place.user : user;
  if ((signsInAs === '') !== (password === undefined))
    reader.refuse(sipTrunkPassword, `must be set together with an account or ${sipTrunkUser.name}`);
  if (place.transport === 'TLS' ? !has.TLS : !has.UDP) {
    const needed = place.transport === 'TLS' ? 'SVC_SIP_TLS_ADDR' : 'SVC_SIP_ADDR';
    reader.refuse(sipTrunk, `needs ${needed}: what the trunk says of calls comes in there`);
  }
  return { ...place, signsInAs, password };
}
