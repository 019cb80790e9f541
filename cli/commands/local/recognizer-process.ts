/**
 * The process that recognises speech for the local server. It holds the native engine, so that neither its work nor its end
 * stops the sockets. It ends with its parent.
 */
import '../../../shared/runtime/stack.ts';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { exitWithParent, tellParent, wakeWhenOrphaned } from '../../../shared/runtime/child.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { FromRecognizer, ToRecognizer } from './messages.ts';
import { hasCapitalsOnly, Recognizing } from './recognition.ts';
import { loadSherpa, openRecognizer } from './sherpa.ts';

/** Below the service, whose calls must not wait for this. */
const niceness = 5;

const tell = (message: FromRecognizer): void => tellParent(message);

let recognizing: Recognizing | undefined;
let isScheduled = false;

/** One step, and the next behind whatever came in meanwhile. */
function work(): void {
  isScheduled = false;
  if (recognizing?.advance() === true) schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  systemClock.after(0, work);
}

process.on('message', (received) => {
  // The parent is this program as well.
  const message = received as ToRecognizer;
  switch (message.type) {
    case 'setup':
      setPriority(niceness);
      recognizing = new Recognizing(openRecognizer(loadSherpa(), message.files, message), {
        tell,
        capitalsOnly: hasCapitalsOnly(readFileSync(message.files.tokens, 'utf8')),
      });
      tell({ type: 'ready' });
      return;
    case 'ping':
      tell({ type: 'pong' });
      return;
    case 'audio':
    case 'finish':
    case 'drop':
      recognizing?.take(message);
      schedule();
  }
});
wakeWhenOrphaned();
exitWithParent(() => process.exit(0));
