/** A stage whose sessions are streams to one vendor. It keeps nothing between calls but what `close` ends. */
import type { SttStage } from '../stage.ts';
import { StreamSession } from './stream-session.ts';
import type { SttVendor } from './vendor.ts';

export const newStreamStage = (
  provider: string,
  vendor: SttVendor,
  close: () => Promise<void> = () => Promise.resolve(),
): SttStage => ({
  provider,
  open: (context, sink) => new StreamSession(vendor, { context, sink }),
  close,
});
