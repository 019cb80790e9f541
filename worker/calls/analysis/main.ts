/**
 * The process that analyses calls of one agent when they are over. The one that keeps records starts it when there is something to do and
 * ends it afterwards; it alone of the two knows adapters.
 */
import '../../../shared/runtime/stack.ts';
import { writeJson } from '../../../shared/base/exact-json.ts';
import type { FromAnalyst, ToAnalyst } from '../../../shared/calls/messages.ts';
import { exitWithParent, tellParent, wakeWhenOrphaned } from '../../../shared/runtime/child.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { Analyst } from './analyst.ts';

wakeWhenOrphaned();
exitWithParent(() => process.exit(0));
let analyst: Promise<Analyst> | undefined;

// The first question may come in one read with the setup: a process that waited for the one would not hear of the other.
process.on('message', (message: ToAnalyst) => {
  if (message.type === 'setup') {
    const log = newLog({ role: 'analysis', level: message.logLevel });
    analyst = Analyst.open(message, { clock: systemClock, log });
    return;
  }
  const { id, record } = message;
  void analyst
    ?.then(async (ready) => await ready.analyse(record))
    .then((outcome) => {
      const answer: FromAnalyst = { type: 'analysed', id, outcome: writeJson(outcome) };
      tellParent(answer);
    });
});
