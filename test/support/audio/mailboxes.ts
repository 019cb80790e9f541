/** Mailboxes in plain memory, and a consumer that judges when a test says so, in the place of inference. */
import { heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { mailboxBytes, Mailboxes, type MailboxLayout } from '../../../shared/protocol/mailbox.ts';

export const smallLayout: MailboxLayout = { workers: 1, slotsPerWorker: 4, ringFrames: 16, threads: 1 };

export const newMailboxes = (layout: MailboxLayout = smallLayout): Mailboxes =>
  new Mailboxes(new ArrayBuffer(mailboxBytes(layout)), layout);

export interface ScriptedInference {
  /** Shows a heartbeat at the given machine time. */
  beat(nowMs: number): void;
  /** Judges every waiting frame of the slot. Returns the first sample of each, which names it in tests. */
  judge(slot: number, probability: (frame: Int16Array) => number): number[];
}

export function newScriptedInference(boxes: Mailboxes): ScriptedInference {
  return {
    beat: (nowMs) => boxes.beatThread(0, heartbeatOf(nowMs), 0),
    judge: (slot, probability) => {
      const mailbox = boxes.mailbox(slot);
      const seen: number[] = [];
      if (mailbox.consumed < mailbox.base) mailbox.skipTo(mailbox.base);
      while (mailbox.consumed < mailbox.produced) {
        const frame = mailbox.frame(mailbox.consumed);
        seen.push(frame[0]!);
        mailbox.deliver(mailbox.consumed, probability(frame));
      }
      return seen;
    },
  };
}
