/** What this side can, as it is told to everybody. */
import type { HeaderPair } from '../message/write.ts';

export const allow = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE';

/** Extensions that a peer may require. */
export const supported: readonly string[] = ['timer'];

export const capabilities: readonly HeaderPair[] = [
  ['Allow', allow],
  ['Supported', supported.join(', ')],
];
