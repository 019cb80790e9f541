/**
 * A tool server as a child process that speaks on its standard streams. It lives no longer than this process, however
 * that ends: a shell leads its process group and ends the group once the pipe from here is closed. It sees the variables
 * that it is given and PATH, nothing else. What it writes is bounded in line and rate.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** Longest line that is read, and most that waits to be written, in bytes. */
const mostBytes = 1_048_576;
/** Lines and bytes of one second; a server that says more says nothing worth reading. */
const mostLinesPerSecond = 1_000;
const mostBytesPerSecond = 16 * mostBytes;
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

export interface StdioOptions {
  readonly command: readonly string[];
  readonly env: ReadonlyMap<string, Sensitive<string>>;
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
  #window: { startedAt: Millis; lines: number; bytes: number } = { startedAt: 0, lines: 0, bytes: 0 };

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
    child.on('exit', () => this.#over());
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
    if (stdin.writableLength > mostBytes) return Promise.reject(new Error('the server does not read'));
    stdin.write(serializeMessage(message));
    return Promise.resolve();
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
    // What is left of the group goes, too.
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
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.#isClosed; end = rest.indexOf(10)) {
      this.#parts.push(rest.subarray(0, end));
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      if (this.#isWithinRate(1, 0)) this.#read(line);
    }
    this.#parts.push(rest);
    this.#bytes += rest.length;
    if (!this.#isWithinRate(0, chunk.length) || this.#bytes > mostBytes) this.#refuse();
  }

  #isWithinRate(lines: number, bytes: number): boolean {
    const now = this.#options.clock.now();
    if (now - this.#window.startedAt > 1000) this.#window = { startedAt: now, lines: 0, bytes: 0 };
    this.#window.lines += lines;
    this.#window.bytes += bytes;
    return this.#window.lines <= mostLinesPerSecond && this.#window.bytes <= mostBytesPerSecond;
  }

  #refuse(): void {
    if (this.#isClosed) return;
    this.onerror?.(new Error('the server writes more than is read'));
    this.#over();
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch {
      // Programs print other things, too; a line that is no message costs nothing but itself.
      this.onerror?.(new Error('the server wrote a line that is no message'));
    }
  }
}
