/** What is told of a provider while it serves a call, inside that call's scope: names and counts of the configuration, never an answer. */
import type { StageName } from '../../shared/config/stages/declaration.ts';
import type { ProviderRole } from '../../shared/protocol/breakers.ts';
import type { Unit } from './failover/provider.ts';

export type ProviderNote = {
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** Canonical name. */
  readonly provider: string;
} &
  /** `session`: as the provider names it, where answers are made within one. */
  (
    | { readonly what: 'requested'; readonly session?: string | undefined }
    /** It does not answer, and another stage does in its place. */
    | { readonly what: 'replaced'; readonly by: string }
    | { readonly what: 'failed'; readonly kind: string }
    /** `isLate`: for a request that the call no longer waits for. */
    | { readonly what: 'spent'; readonly unit: Unit; readonly amount: number; readonly isLate?: true }
  );
