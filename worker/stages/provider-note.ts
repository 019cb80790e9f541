/** What is told of a provider while it serves a call, inside that call's scope: names and counts of the configuration, never an answer. */
import type { StageName } from '../../shared/config/stages/declaration.ts';
import type { ProviderRole } from '../../shared/protocol/breakers.ts';
import type { Unit } from './failover/provider.ts';

export type ProviderNote = {
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** Canonical name. */
  readonly provider: string;
} & (
  | { readonly what: 'requested' }
  | { readonly what: 'failed'; readonly kind: string }
  | { readonly what: 'spent'; readonly unit: Unit; readonly amount: number }
);
