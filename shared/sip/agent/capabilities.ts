/** Capabilities of both sides of a call, as SIP messages tell them. Pure. */
import { headerOf, lists, type SipMessage } from '../message/message.ts';
import type { HeaderPair } from '../message/write.ts';
import type { SipCall } from './state.ts';

export const allow = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE';

/** Extensions that a peer may require. */
export const supported: readonly string[] = ['timer'];

export const capabilities: readonly HeaderPair[] = [
  ['Allow', allow],
  ['Supported', supported.join(', ')],
];

/** Capabilities of a peer, as its INVITE or its answer says; a peer that says nothing may be asked. */
export function allowed(message: SipMessage): Pick<SipCall, 'allowsUpdate' | 'mayAsk'> {
  const isSilent = headerOf(message, 'allow') === undefined;
  const mayBe = (method: string): boolean => isSilent || lists(message, 'allow', method);
  return {
    allowsUpdate: lists(message, 'allow', 'update'),
    mayAsk: { info: mayBe('info'), refer: mayBe('refer') },
  };
}
