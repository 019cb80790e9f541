/**
 * How the choice of an agent travels with a call from the process that makes it to the worker: as one text in its metadata, under a key that no
 * client can set, or in the parameters of a stream whose address was made for the call.
 */
import type { AgentRef } from './version.ts';
import type { ChosenAgent, ChosenBy } from './choose.ts';

export const chosenKeys = {
  /** Metadata that the server sets. */
  signed: 'session.agent_chosen',
  /** Parameter of a carrier's stream. */
  parameter: 'agent_chosen',
} as const;

const ways: readonly string[] = [
  'signed',
  'number',
  'host',
  'trunk',
  'asked',
  'default',
] satisfies ChosenBy[];
const idForm = /^[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_-]{1,64})?$/;

/** What names an agent and no version of it. */
export type ChosenName = Omit<ChosenAgent, keyof AgentRef | 'isExpected'> & Pick<AgentRef, 'id'>;

export const writeChosen = ({ id, by, insteadOf, isUnknown }: ChosenName): string =>
  [by, id, ...(insteadOf === undefined ? [] : [insteadOf]), ...(isUnknown === true ? ['unknown'] : [])].join(
    ' ',
  );

/** Undefined for a text that was not written here. */
export function readChosen(text: string): ChosenName | undefined {
  const [by = '', id = '', ...rest] = text.split(' ');
  const isUnknown = rest.at(-1) === 'unknown' && by === 'default';
  const [insteadOf, ...more] = isUnknown ? rest.slice(0, -1) : rest;
  if (!ways.includes(by) || !idForm.test(id) || more.length > 0) return undefined;
  if (insteadOf !== undefined && !idForm.test(insteadOf)) return undefined;
  return {
    id,
    by: by as ChosenBy,
    ...(insteadOf !== undefined && { insteadOf }),
    ...(isUnknown && { isUnknown }),
  };
}
