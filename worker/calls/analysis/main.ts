/**
 * The process that analyses calls of one agent when they are over. The one that keeps records starts it when there is something to do and
 * ends it afterwards; it alone of the two knows adapters.
 */
import '../../../shared/runtime/stack.ts';
import type { FromAnalyst, ToAnalyst } from '../../../shared/calls/messages.ts';
import { exitWithParent, firstMessage } from '../../../shared/runtime/child.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { Analyst } from './analyst.ts';

exitWithParent(() => process.exit(0));
const setup = await firstMessage<Extract<ToAnalyst, { type: 'setup' }>>();
const log = newLog({ role: 'analysis', level: setup.logLevel });
// What is asked for meanwhile waits for the analyst.
const analyst = Analyst.open(setup, { clock: systemClock, log });
process.on('message', (message: ToAnalyst) => {
  if (message.type === 'setup') return;
  const { id, record } = message;
  void analyst
    .then(async (ready) => await ready.analyse(record))
    .then((outcome) => {
      const answer: FromAnalyst = { type: 'analysed', id, outcome };
      if (process.connected) process.send?.(answer);
    });
});
