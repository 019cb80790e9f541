/** What calls asked of their providers, read from the counters that workers keep in shared memory. */
import { providerRoles, type ProviderRole } from '../shared/protocol/breakers.ts';
import { countedStages, type CountedStage, type Mailboxes } from '../shared/protocol/mailbox.ts';

/** Counters are 32 bits wide and wrap. */
const wrap = 0x1_0000_0000;

export class RequestCounts {
  readonly #boxes: Mailboxes;
  readonly #seen = new Map<string, number>();

  constructor(boxes: Mailboxes) {
    this.#boxes = boxes;
  }

  /** Requests to each provider since the last look; those without any are left out. */
  take(): { readonly stage: CountedStage; readonly role: ProviderRole; readonly count: number }[] {
    const uses = countedStages.flatMap((stage) => providerRoles.map((role) => ({ stage, role })));
    return uses
      .map((use) => ({ ...use, count: this.#takeOne(use.stage, use.role) }))
      .filter(({ count }) => count > 0);
  }

  #takeOne(stage: CountedStage, role: ProviderRole): number {
    let taken = 0;
    for (let worker = 0; worker < this.#boxes.layout.workers; worker += 1) {
      const key = `${worker} ${stage} ${role}`;
      const count = this.#boxes.requests(worker, stage, role);
      taken += (count - (this.#seen.get(key) ?? 0) + wrap) % wrap;
      this.#seen.set(key, count);
    }
    return taken;
  }
}
