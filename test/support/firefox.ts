/**
 * Debian's Firefox, driven by WebDriver BiDi over its own socket: nothing lies between but `ws`.
 *
 * Invariant: nothing is downloaded and no network is used but the pages that a test opens. A machine without Firefox skips with
 * {@link firefoxMissing} as the reason.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const program = '/usr/bin/firefox-esr';

/** Why the tests with Firefox cannot run here, or undefined when they can. */
export const firefoxMissing: string | undefined = existsSync(program)
  ? undefined
  : `${program} is not installed`;

/** Sound without a gesture, and no word to anybody outside. */
const preferences: Readonly<Record<string, string | number | boolean>> = {
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  'app.update.enabled': false,
  'app.normandy.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.enabled': false,
};

interface Reply {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly message?: string;
}

export class Firefox {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #context = '';
  #asked = 0;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const reply = JSON.parse(data.toString()) as Reply;
      this.#waiting.get(reply.id ?? -1)?.(reply);
      this.#waiting.delete(reply.id ?? -1);
    });
  }

  static async open(url: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'firefox-'));
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
    );
    writeFileSync(join(profile, 'user.js'), lines.join(''));
    const child = spawn(
      program,
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
    );
    const socket = new WebSocket(`${await listening(child)}/session`);
    await once(socket, 'open');
    const firefox = new Firefox(child, profile, socket);
    await firefox.#ask('session.new', { capabilities: {} });
    const { contexts } = (await firefox.#ask('browsingContext.getTree', {})) as {
      contexts: { context: string }[];
    };
    firefox.#context = contexts[0]?.context ?? '';
    await firefox.#ask('browsingContext.navigate', { context: firefox.#context, url, wait: 'complete' });
    return firefox;
  }

  async #ask(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    this.#asked += 1;
    const id = this.#asked;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, message } = await replied;
    if (result === undefined) throw new Error(`${method}: ${message ?? 'no result'}`);
    return result;
  }

  /** The value of an expression, once it is there; what JSON cannot say is lost. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#ask('script.evaluate', {
      expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails).slice(0, 1_000));
    return JSON.parse((result as { value: string }).value);
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    if (this.#child.exitCode === null) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The address that it says it listens at. */
function listening({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (stderr === null) return;
    const lines = createInterface({ input: stderr });
    lines.on('line', (line) => {
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
    lines.once('close', () => reject(new Error('Firefox did not start')));
  });
}
