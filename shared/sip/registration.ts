/**
 * The server variables of SIP registration: one account at a PBX or provider, which then sends its calls here. The parts of an
 * address that are understood stand in `readPlace` alone.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { parseHostPort } from '../net/address.ts';
import type { Sensitive } from '../config/sensitive.ts';
import type { Reader } from '../config/server/environment.ts';
import { durationVariable, readVariable, secretVariable, textLike } from '../config/server/variables.ts';

/** A SIP address of somebody else's, as it is written in variables. */
export interface SipPlace {
  /** User part of the address. */
  readonly user: string;
  /** As it was written, for the address of the account; brackets and all. */
  readonly host: string;
  readonly port: number;
  readonly hasPort: boolean;
  readonly transport: 'UDP' | 'TCP' | 'TLS';
}

export interface SipRegistration extends SipPlace {
  /** Name that signs in. */
  readonly signsInAs: string;
  readonly password: Sensitive<string>;
  readonly expiresMs: number;
}

const accountForm = 'sip:user@host, with :port and ;transport=udp, tcp or tls where needed';

export function readPlace(
  value: string,
  { form, needsUser }: { readonly form: string; readonly needsUser: boolean },
): Result<SipPlace, string> {
  const [, scheme = '', user = '', at = '', given = ''] =
    /^(sips?):(?:([A-Za-z0-9._+-]{1,64})@)?([^;?\s@]{1,255})(?:;transport=(udp|tcp|tls))?$/i.exec(value) ??
    [];
  const isSecure = scheme.toLowerCase() === 'sips' || given.toLowerCase() === 'tls';
  const isUnclear = isSecure && given !== '' && given.toLowerCase() !== 'tls';
  if (scheme === '' || (needsUser && user === '') || isUnclear) return fail(`must be ${form}`);
  const hasPort = /:\d+$/.test(at) && !/^[0-9a-f]*:[0-9a-f:]*:\d+$/i.test(at);
  const place = parseHostPort(hasPort ? at : `${at}:${isSecure ? 5061 : 5060}`);
  if (!place.ok || place.value.port === 0) return fail(`must be ${form}`);
  const transport = isSecure ? 'TLS' : given.toLowerCase() === 'tcp' ? 'TCP' : 'UDP';
  return ok({ user, host: place.value.host, port: place.value.port, hasPort, transport });
}

export const nameForm = 'at most 128 visible characters without quotes';

export const readName = textLike(nameForm, (value) => /^[!#-[\]-~]{1,128}$/.test(value));

export const sipRegistrationVariables = {
  sipRegister: readVariable<SipPlace | undefined>(
    'SVC_SIP_REGISTER',
    'Account at a PBX or provider that sends calls: the service registers there, and accepts calls from there.',
    {
      form: accountForm,
      defaultText: 'unset: no registration',
      read: (value) => readPlace(value, { form: accountForm, needsUser: true }),
      fallback: undefined,
    },
  ),
  sipRegisterUser: readVariable<string>('SVC_SIP_REGISTER_USER', 'Name that signs in at the registrar.', {
    form: nameForm,
    defaultText: 'the user of SVC_SIP_REGISTER',
    read: readName,
    fallback: '',
  }),
  sipRegisterPassword: secretVariable('SVC_SIP_REGISTER_PASSWORD', 'Password of the account.'),
  sipRegisterExpires: durationVariable(
    'SVC_SIP_REGISTER_EXPIRES',
    'How long a registration is asked for; it is renewed at half of what the registrar grants.',
    { defaultMs: 600_000, leastMs: 60_000 },
  ),
} as const;

/** `has` says which transports the settings listen on: calls of the account come in by the one it registers over. */
export function takeSipRegistration(
  reader: Reader,
  has: { readonly UDP: boolean; readonly TLS: boolean },
): SipRegistration | undefined {
  const { sipRegister, sipRegisterPassword } = sipRegistrationVariables;
  const taken = reader.takeAll(sipRegistrationVariables);
  const { sipRegister: account, sipRegisterUser: user, sipRegisterPassword: password } = taken;
  if (account === undefined) {
    if (password !== undefined)
      reader.refuse(sipRegisterPassword, `must not be set without ${sipRegister.name}`);
    return undefined;
  }
  if (password === undefined) {
    reader.refuse(sipRegisterPassword, `must be set where ${sipRegister.name} is`);
    return undefined;
  }
  if (account.transport === 'TLS' ? !has.TLS : !has.UDP) {
    const needed = account.transport === 'TLS' ? 'SVC_SIP_TLS_ADDR' : 'SVC_SIP_ADDR';
    reader.refuse(sipRegister, `needs ${needed}: calls come in by the transport that is registered over`);
  }
  return {
    ...account,
    signsInAs: user === '' ? account.user : user,
    password,
    expiresMs: taken.sipRegisterExpires,
  };
}
