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
  readonly #child: ChildProcess;
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
    this.#child = spawn(
      program,
      [
        ...['-n', '--no-cli', '--use-auth-secret', `--static-auth-secret=${this.secret}`, '--realm=test'],
        ...['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', '--allow-loopback-peers'],
        ...[`--listening-port=${port}`, `--tls-listening-port=${tlsPort}`, '--verbose'],
        ...[`--cert=${this.certificate}`, `--pkey=${join(folder, 'key.pem')}`],
        ...[
          '--log-file=stdout',
          '--simple-log',
          `--pidfile=${join(folder, 'pid')}`,
          `--userdb=${join(folder, 'db')}`,
        ],
      ],
      { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    if (this.#child.stdout !== null)
      createInterface(this.#child.stdout).on('line', (line) => {
        this.lines.push(line);
        this.changed();
      });
  }

  static async start(): Promise<Coturn> {
    const folder = mkdtempSync(join(tmpdir(), 'coturn-'));
    const coturn = new Coturn(folder, [await freePort(), await freePort()]);
    const opened = `listener opened on`;
    const isOpen = (port: number): boolean =>
      coturn.lines.some((line) => line.includes(opened) && line.includes(String(port)));
    await coturn.until(() => isOpen(coturn.#port) && isOpen(coturn.#tlsPort));
    return coturn;
  }

  /** Of the server by TLS, for whoever is to trust it. */
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
