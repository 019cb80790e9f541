/**
 * The listeners that this build does not have. A variable that acts on one of them refuses the start: an operator who set
 * it would wait for calls that cannot come.
 */
import type { Env, Reader } from './environment.ts';

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_SIP: boolean | undefined;
const hasSip = typeof BUILD_SIP === 'undefined' || BUILD_SIP;

/** By the beginnings of their variables' names. */
const absentListeners: readonly (readonly [prefix: string, listener: string])[] = [
  ...(hasSip ? [] : [['SVC_SIP_', 'no SIP: it has to be built with SVC_BUILD_WITH=sip'] as const]),
];

/** What this build lacks of a variable, as `no SIP listener`; undefined when the variable is of no such listener. */
export const lackedBy = (name: string): string | undefined =>
  absentListeners.find(([prefix]) => name.startsWith(prefix))?.[1];

export function refuseAbsent(env: Env, reader: Reader): void {
  for (const name of Object.keys(env).toSorted()) {
    const lacked = lackedBy(name);
    if (lacked !== undefined)
      reader.refuse({ name: name.slice(0, 64) }, `must not be set: this build has ${lacked}`);
  }
}
