/**
 * A tool server as a child process that speaks on its standard streams. It lives no longer than this process, however
 * that ends: a shell leads its process group and ends the group once the pipe from here is closed. It sees the variables
 * that it is given and PATH, nothing else. Its output is bounded in length and rate.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import type * as sdk from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { writeJson } from '../../../shared/base/exact-json.ts';
import { readableMessage } from './messages.ts';
import { largeAnswer, mostMessageBytes } from './message-bounds.ts';
import { isTable } from '../../../shared/config/table.ts';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** Most that waits to be written, in bytes. */
const mostWaitingBytes = 1_048_576;
/** Of a line that is longer than a message only its ends are kept; a line that does not end at all ends the server. */
const endlessBytes = 16 * mostMessageBytes;
const keptOfEachEnd = 128;
/** Messages of one second that answer nothing, and bytes of one second. */
const mostUnasked = 100;
const mostBytesPerSecond = 64 * mostMessageBytes;
/** Requests whose answers are still expected; a server that leaves more unanswered gets no credit for the oldest. */
const mostAsked = 1_024;
/** From the end of its input to the end of the server. */
const leaveMs = 1_500;

/**
 * Runs the command in the background of a shell that leads the group. The second job reads the lifeline (descriptor 3),
 * which says nothing until it ends with this process; then the whole group goes.
 */
const guard = [
  'exec 4<&0',
  '"$@" <&4 3<&- 4<&- & child=$!',
  'exec 0</dev/null 1>/dev/null 4<&-',
  '( read -r _ <&3; kill -KILL 0 ) & exec 3<&-',
  'wait "$child"',
].join('\n');

/** The id in front of an answer or behind it, where it stands in what the usual servers write. */
const idInFront = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d+)\s*,\s*"result"/;
const idBehind = /"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const startsWithResult = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"result"/;

/** For the two ends of an answer that is too long; nothing where they are not recognised. */
function standInFor(ends: string): string {
  const id = (idInFront.exec(ends) ?? (startsWithResult.test(ends) ? idBehind.exec(ends) : undefined))?.[1];
  return id === undefined ? '' : largeAnswer(Number(id));
}

export interface StdioOptions {
  readonly command: readonly string[];
  readonly env: ReadonlyMap<string, Sensitive<string>>;
  /** How messages are read: the library's own, which is loaded only where there is a tool server. */
  readonly wire: Pick<typeof sdk, 'deserializeMessage'>;
  readonly clock: Clock;
}

export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isClosed = false;
  /** Requests without an answer. */
  /** What the program ended with; absent while it runs, and after a signal. */
  exitStatus: number | undefined;
  readonly #asked = new Set<string | number>();
  #window: { startedAt: Millis; unasked: number; bytes: number } = { startedAt: 0, unasked: 0, bytes: 0 };

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { command, env } = this.#options;
    const passed = [...env].map(([name, value]) => [name, value.reveal()] as const);
    const path = process.env['PATH'];
    const child = spawn('/bin/sh', ['-c', guard, 'tool-server', ...command], {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      env: { ...(path !== undefined && { PATH: path }), ...Object.fromEntries(passed) },
      detached: true,
    });
    this.#child = child;
    const ignore = (): void => undefined;
    child.stdin?.on('error', ignore);
    child.stdio[3]?.on('error', ignore);
    child.stdout?.on('error', ignore).on('data', (chunk: Buffer) => this.#take(chunk));
    child.on('exit', (status) => {
      this.exitStatus = status ?? undefined;
      this.#over();
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.#over();
        reject(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#isClosed || stdin?.writable !== true) return Promise.reject(new Error('the server has ended'));
    if (stdin.writableLength > mostWaitingBytes) return Promise.reject(new Error('the server does not read'));
    if ('method' in message && 'id' in message) this.#expect(message.id);
    stdin.write(`${writeJson(message)}\n`);
    return Promise.resolve();
  }

  #expect(id: string | number): void {
    for (const oldest of this.#asked) {
      if (this.#asked.size < mostAsked) break;
      this.#asked.delete(oldest);
    }
    this.#asked.add(id);
  }

  /** Ends the server's input and, some time later, the server. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#child?.stdin?.end();
      this.#options.clock.after(leaveMs, () => this.#cutLifeline());
      this.#announce();
    }
    return Promise.resolve();
  }

  #over(): void {
    // The rest of the group goes, too.
    this.#cutLifeline();
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#announce();
  }

  #cutLifeline(): void {
    const lifeline = this.#child?.stdio[3];
    if (lifeline instanceof Writable) lifeline.destroy();
  }

  #announce(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts = [];
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    this.#openWindow();
    this.#window.bytes += chunk.length;
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.#isClosed; end = rest.indexOf(10)) {
      this.#keep(rest.subarray(0, end));
      const whole = Buffer.concat(this.#parts).toString('utf8');
      const line = this.#bytes > mostMessageBytes ? standInFor(whole) : whole;
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#read(line);
    }
    this.#keep(rest);
    const { bytes, unasked } = this.#window;
    if (bytes > mostBytesPerSecond || unasked > mostUnasked || this.#bytes > endlessBytes) this.#refuse();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    this.#parts.push(part);
    if (this.#bytes <= mostMessageBytes) return;
    const all = Buffer.concat(this.#parts);
    // Copies, which do not hold on to the line.
    this.#parts = [Buffer.concat([all.subarray(0, keptOfEachEnd), all.subarray(-keptOfEachEnd)])];
  }

  #openWindow(): void {
    const now = this.#options.clock.now();
    if (now - this.#window.startedAt > 1000) this.#window = { startedAt: now, unasked: 0, bytes: 0 };
  }

  #refuse(): void {
    if (this.#isClosed) return;
    this.onerror?.(new Error('the server writes more than is read'));
    this.#over();
  }

  #read(written: string): void {
    // Some shells begin what they pass on with a mark of the order of its bytes.
    const line = written.replace(/^\uFEFF/, '');
    if (line.trim() === '' || this.#window.unasked > mostUnasked) return;
    try {
      const message: unknown = JSON.parse(line);
      const id: unknown = isTable(message) && !('method' in message) ? message['id'] : undefined;
      const isAnswer = id !== null && this.#asked.delete(Number(id));
      if (!isAnswer) this.#window.unasked += 1;
      // News is not read but for one kind, and reading it costs more than parsing it.
      const isNews =
        isTable(message) && !('id' in message) && message['method'] !== 'notifications/tools/list_changed';
      if (!isNews) this.onmessage?.(this.#options.wire.deserializeMessage(readableMessage(line)));
    } catch {
      // Programs print other things, too; a line that is no message costs nothing but itself.
      this.#window.unasked += 1;
      this.onerror?.(new Error('the server wrote a line that is no message'));
    }
  }
}
