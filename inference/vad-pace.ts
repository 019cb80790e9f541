/** When a VAD thread looks for frames. Pure. */

/** Frames that come within this time of one another are judged in one look. */
export const gatherMs = 4;
/** With fewer calls hardly two of their frames meet, and a thread is woken for each. */
const fewCalls = 4;
/** A thread that nobody wakes shows so often that it lives. */
const beatMs = 50;
const idleBeatMs = 200;

/** Whether a thread looks again by itself after a moment: many calls have frames then. If not, it sleeps until somebody wakes it. */
export const mayGather = ({ found, calls }: { readonly found: boolean; readonly calls: number }): boolean =>
  found && calls > fewCalls;

export const beatMsOf = (calls: number): number => (calls > 0 ? beatMs : idleBeatMs);
