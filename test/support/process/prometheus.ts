/** A real Prometheus on a free port that reads the metrics of one service and evaluates the alerts that are delivered. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

interface PrometheusOptions {
  /** Address of `/metrics`. */
  readonly target: string;
  readonly rules: string;
}

export class TestPrometheus {
  readonly #url: string;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.#url = url;
    this.#folder = folder;
    this.#child = child;
  }

  static async start({ target, rules }: PrometheusOptions): Promise<TestPrometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'voice-agent', static_configs: [{ targets: [target] }] }],
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
    const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        if (line.includes('ready to receive web requests')) resolve();
      });
      child.once('exit', () => reject(new Error('prometheus ended')));
    });
    return new TestPrometheus(`http://${address}/api/v1`, folder, child);
  }

  async ask(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const response = await fetch(`${this.#url}/${path}?${new URLSearchParams(query).toString()}`);
    const { status, data, error } = (await response.json()) as Readonly<Record<string, unknown>>;
    if (status !== 'success') throw new Error(`${path}: ${String(error)}`);
    return data;
  }

  /** How many series a query finds now. */
  async found(query: string): Promise<number> {
    return ((await this.ask('query', { query })) as { readonly result: readonly unknown[] }).result.length;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
