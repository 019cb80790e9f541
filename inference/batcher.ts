/**
 * Chooses which slots go into the next run of the VAD model. A slot gives at most one frame per run, because each frame
 * needs the model state that the one before it left. The scan starts where the last one ended, so no slot starves. Pure.
 */

/** Frames that come within this time of one another are judged in one batch. */
export const batchMs = 4;
/** With fewer calls hardly two of their frames meet, and a thread is woken for each. */
const fewCalls = 4;
/** A thread that nobody wakes shows so often that it lives. */
const beatMs = 50;
const idleBeatMs = 200;

/** Whether a thread looks again by itself after a moment: many calls have frames then. If not, it sleeps until somebody wakes it. */
export const mayBatch = ({ found, calls }: { readonly found: boolean; readonly calls: number }): boolean =>
  found && calls > fewCalls;

export const beatMsOf = (calls: number): number => (calls > 0 ? beatMs : idleBeatMs);

export interface BatchPlan {
  /** Slots of the batch; the first `rows` are valid. Reused between calls. */
  readonly slots: Int32Array;
  rows: number;
  /** Where the next scan starts. */
  cursor: number;
  /** The most frames that one slot had waiting. */
  oldestUnread: number;
}

export const newBatchPlan = (maxRows: number): BatchPlan => ({
  slots: new Int32Array(maxRows),
  rows: 0,
  cursor: 0,
  oldestUnread: 0,
});

/** Fills the plan from `slots` candidates; `unread` gives the frames that wait in one. */
export function planBatch(plan: BatchPlan, slots: readonly number[], unread: (slot: number) => number): void {
  plan.rows = 0;
  plan.oldestUnread = 0;
  const count = slots.length;
  if (count === 0) return;
  let next = plan.cursor % count;
  let cursor = next;
  for (let i = 0; i < count; i += 1) {
    const slot = slots[next];
    next = next + 1 === count ? 0 : next + 1;
    if (slot === undefined) continue;
    const waiting = unread(slot);
    if (waiting > plan.oldestUnread) plan.oldestUnread = waiting;
    if (waiting === 0 || plan.rows === plan.slots.length) continue;
    plan.slots[plan.rows] = slot;
    plan.rows += 1;
    cursor = next;
  }
  plan.cursor = cursor;
}
