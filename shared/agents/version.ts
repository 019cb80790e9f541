/** One version of an agent: everything that it consists of, and the name of exactly that. */
import { createHash } from 'node:crypto';
import type { Limits } from './limits.ts';
import type { RoutingDefinition } from './routing.ts';

/** How far a tenant's files reach (docs/security.md); what is absent is not bounded. */
export interface TenantReach {
  /** Names that they name lead to public addresses. */
  readonly isPublicOnly?: true;
  /** How the numbers begin that its calls may be handed to, and that may be called for it. */
  readonly numbers?: readonly string[];
}

/** Whether a tenant may have this number called. */
export const mayCall = ({ numbers }: TenantReach, number: string): boolean =>
  numbers === undefined || numbers.some((beginning) => number.startsWith(beginning));

/** The files that an agent file names, by the name it uses: texts as they are, recordings as base64. */
export interface NamedFiles {
  readonly texts: Readonly<Record<string, string>>;
  readonly recordings: Readonly<Record<string, string>>;
  /** Addresses of the modules of packages, by `npm:NAME`. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Values of variables that the service as a whole does not have; of a tenant's agent all that it has. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Absent: it belongs to the operator. */
  readonly reach?: TenantReach;
}

/** What an agent is made of. */
export interface AgentText {
  readonly text: string;
  readonly files: NamedFiles;
}

/** Names a version; a call keeps the one that it began with. */
export interface AgentRef {
  /** `name`, or `tenant/name`. */
  readonly id: string;
  readonly hash: string;
}

export interface AgentVersion extends AgentRef, AgentText {
  readonly name: string;
  /** Absent: it belongs to the operator. */
  readonly tenant?: string;
  readonly routing: RoutingDefinition;
  readonly limits?: Limits;
  /** Of its tenant. */
  readonly tenantLimits?: Limits;
}

export const agentIdOf = (tenant: string | undefined, name: string): string =>
  tenant === undefined ? name : `${tenant}/${name}`;

/** The tenant of an id; undefined for an agent of the operator's own. */
export const tenantOf = (id: string): string | undefined =>
  id.includes('/') ? id.slice(0, id.indexOf('/')) : undefined;

const sorted = (given: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] =>
  Object.entries(given).toSorted(([one], [other]) => (one < other ? -1 : 1));

/**
 * The same for the same agent of the same content, in whichever process. Agents that two tenants write alike stay apart: versions share connections and
 * child processes. `tenantText` is the file of its tenant.
 */
export function hashOf(id: string, { text, files }: AgentText, tenantText?: string): string {
  const { texts, recordings, packages, secrets } = files;
  const named = [texts, recordings, packages, secrets].map(sorted);
  const content = JSON.stringify([id, text, ...named, tenantText ?? null]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
