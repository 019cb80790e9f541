/**
 * coturn as it comes from Debian, on a loopback address and free ports: a TURN server that shares no code with the service.
 *
 * Invariant: it relays to loopback addresses, which it would refuse in earnest. A machine without it skips with {@link coturnMissing}.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Observed } from '../process/observed.ts';
import { selfSigned } from '../self-signed.ts';

const program = '/usr/bin/turnserver';

/** Why tests with coturn cannot run here, or undefined when they can. */
export const coturnMissing: string | undefined = existsSync(program)
  ? undefined
  : `${program} is not installed`;

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export class Coturn extends Observed {
  readonly secret = 'north-star-secret';
  readonly lines: string[] = [];
  #child: ChildProcess;
  readonly #folder: string;
  readonly #port: number;
  readonly #tlsPort: number;

  private constructor(folder: string, [port, tlsPort]: readonly [number, number]) {
    super();
    this.#folder = folder;
    this.#port = port;
    this.#tlsPort = tlsPort;
    const { key, cert } = selfSigned('turn');
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(this.certificate, cert);
    this.#child = this.#spawn();
  }

  #spawn(): ChildProcess {
    const child = spawn(
      program,
      [
        ...['-n', '--no-cli', '--use-auth-secret', `--static-auth-secret=${this.secret}`, '--realm=test'],
        ...['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', '--allow-loopback-peers'],
        ...[`--listening-port=${this.#port}`, `--tls-listening-port=${this.#tlsPort}`, '--verbose'],
        ...[`--cert=${this.certificate}`, `--pkey=${join(this.#folder, 'key.pem')}`],
        ...[
          '--log-file=stdout',
          '--simple-log',
          `--pidfile=${join(this.#folder, 'pid')}`,
          `--userdb=${join(this.#folder, 'db')}`,
        ],
      ],
      { cwd: this.#folder, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    if (child.stdout !== null)
      createInterface(child.stdout).on('line', (line) => {
        this.lines.push(line);
        this.changed();
      });
    return child;
  }

  static async start(): Promise<Coturn> {
    const folder = mkdtempSync(join(tmpdir(), 'coturn-'));
    const coturn = new Coturn(folder, [await freePort(), await freePort()]);
    await coturn.#opened();
    return coturn;
  }

  async #opened(): Promise<void> {
    const isOpen = (port: number): boolean =>
      this.lines.some((line) => line.includes('listener opened on') && line.includes(String(port)));
    await this.until(() => isOpen(this.#port) && isOpen(this.#tlsPort));
  }

  /** The process dies with all its relays, and another one takes its place. */
  async restart(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
    this.lines.length = 0;
    this.#child = this.#spawn();
    await this.#opened();
  }

  /** Of the server by TLS, for the client that is to trust it. */
  get certificate(): string {
    return join(this.#folder, 'cert.pem');
  }

  url(transport: 'udp' | 'tcp' | 'tls'): string {
    return transport === 'tls'
      ? `turns:127.0.0.1:${this.#tlsPort}?transport=tcp`
      : `turn:127.0.0.1:${this.#port}?transport=${transport}`;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
