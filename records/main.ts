/**
 * The process that keeps the records of calls (docs/calls.md). It stands outside the way of calls: whatever becomes of it, of the disk or of the
 * database, facts of calls wait in the spool.
 */
import '../shared/runtime/stack.ts';
import { constants, setPriority } from 'node:os';
import {
  recordsLeaveWithinMs,
  type FromRecords,
  type RecordsSetup,
  type ToRecords,
} from '../shared/calls/messages.ts';
import { exitWithParent, firstMessage, tellParent, wakeWhenOrphaned } from '../shared/runtime/child.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { RecordsProcess } from './records-process.ts';

wakeWhenOrphaned();
const setup = await firstMessage<RecordsSetup>();
const records = new RecordsProcess(setup, (message: FromRecords) => tellParent(message));
exitWithParent(() => {
  systemClock.after(recordsLeaveWithinMs, () => process.exit(0));
  void records.leave().finally(() => process.exit(0));
});
process.on('message', (message: ToRecords) => records.take(message));
records.run();
// Calls come first, whatever is to be written. Only now: a service that stops right after its start waits for this process to load.
setPriority(constants.priority.PRIORITY_LOW);
