/** `svc-supervisor top`: the live view of a running service in a terminal. It asks once a second and shows the answer. */
import type { LiveState } from '../../../shared/protocol/live.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { shownState } from './shown-state.ts';

const everyMs = 1_000;
/** A supervisor that hangs, or a stranger's port, is told of instead of waited for. */
const answersWithinMs = 5_000;
const clearScreen = '\u001b[2J\u001b[H';

export interface TopOptions {
  readonly url: string | undefined;
  readonly once: boolean;
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly isTerminal: boolean;
  /** Of the terminal, which may change. */
  readonly rows: () => number | undefined;
  readonly write: (text: string) => void;
  readonly writeError: (line: string) => void;
}

/** Runs until it is ended. Resolves with the status where it ends by itself. */
export async function runTop(options: TopOptions): Promise<number> {
  const {
    url = 'http://127.0.0.1:8081',
    once,
    json,
    env,
    clock,
    isTerminal,
    rows,
    write,
    writeError,
  } = options;
  const token = env['SVC_LIVE_TOKEN'];
  if (token === undefined || token === '') {
    writeError('SVC_LIVE_TOKEN must be set, here and for the service');
    return 2;
  }
  if (!URL.canParse('/live/state', url)) {
    writeError('--url: must be an address such as http://127.0.0.1:8081');
    return 2;
  }
  for (;;) {
    const state = await ask(new URL('/live/state', url), token);
    if (typeof state === 'string') {
      writeError(state);
      if (once) return 1;
    } else if (json) write(JSON.stringify(state));
    else if (isTerminal && !once) write(`${clearScreen}${shownState(state, rows()).join('\n')}`);
    else write(shownState(state).join('\n'));
    if (once) return 0;
    // A timer of the clock keeps no process alive; this one is to live until it is ended.
    await new Promise<void>((resolve) => {
      const { port1: alive } = new MessageChannel();
      alive.ref();
      clock.after(everyMs, () => {
        alive.close();
        resolve();
      });
    });
  }
}

/** What the service says, or why there is nothing. */
async function ask(address: URL, token: string): Promise<LiveState | string> {
  const elsewhere = `at ${address.host}; --url names its health listener, SVC_HEALTH_ADDR`;
  try {
    const answer = await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answersWithinMs),
    });
    if (answer.status === 401) return 'SVC_LIVE_TOKEN is not the token of the service';
    if (answer.status === 404) return 'the service has no live view: it needs SVC_LIVE_TOKEN';
    if (!answer.ok) return `status ${answer.status} instead of a live view ${elsewhere}`;
    const state: unknown = await answer.json();
    if (typeof state === 'object' && state !== null && 'workers' in state) return state as LiveState;
    return `no live view ${elsewhere}`;
  } catch (error) {
    if (error instanceof SyntaxError) return `no live view ${elsewhere}`;
    // The service is not there, or does not answer in time.
    return `the service does not answer ${elsewhere}`;
  }
}
