/** What calls asked of their providers, read from the counters that workers keep in shared memory. */
import { providerRoles, type ProviderRole } from '../../shared/protocol/breakers.ts';
import { countedStages, type CountedStage, type Mailboxes } from '../../shared/protocol/mailbox.ts';

/** Counters are 32 bits wide and wrap. */
const wrap = 0x1_0000_0000;

interface Use {
  readonly stage: CountedStage;
  readonly role: ProviderRole;
  /** What was seen of each worker's counter. */
  readonly seen: Uint32Array;
}

export class RequestCounts {
  readonly #boxes: Mailboxes;
  readonly #uses: readonly Use[];

  constructor(boxes: Mailboxes) {
    this.#boxes = boxes;
    const { workers } = boxes.layout;
    this.#uses = countedStages.flatMap((stage) =>
      providerRoles.map((role) => ({ stage, role, seen: new Uint32Array(workers) })),
    );
  }

  /** Reports the requests to each provider since the last look; those without any are left out. */
  take(report: (stage: CountedStage, role: ProviderRole, count: number) => void): void {
    for (const use of this.#uses) {
      const count = this.#takeOne(use);
      if (count > 0) report(use.stage, use.role, count);
    }
  }

  #takeOne({ stage, role, seen }: Use): number {
    let taken = 0;
    for (let worker = 0; worker < seen.length; worker += 1) {
      const count = this.#boxes.requests(worker, stage, role);
      taken += (count - (seen[worker] ?? 0) + wrap) % wrap;
      seen[worker] = count;
    }
    return taken;
  }
}
