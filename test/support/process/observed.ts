/** Waiting for a state of a fake instead of for a time: whoever changes something says so, whoever waits looks again. */

export class Observed {
  private readonly waiters = new Set<() => void>();

  /** Resolves as soon as `holds` is true; it is asked now and after every change. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.waiters.delete(look);
        resolve();
      };
      this.waiters.add(look);
      look();
    });
  }

  /** Something may have come true. */
  changed(): void {
    for (const look of [...this.waiters]) look();
  }
}
