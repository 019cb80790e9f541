/** What the machine is told of the supervisor that serves: by a file with its process id, and by words to systemd. */
import { readFileSync, rmSync } from 'node:fs';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Systemd } from '../../shared/runtime/systemd.ts';
import { reasonOfFile, replaceFile } from '../../shared/installation/named-files.ts';

export interface PresenceOptions {
  readonly log: Log;
  readonly systemd: Systemd;
  readonly settings: Pick<ServerSettings, 'pidFile'>;
  /** This process. */
  readonly pid: number;
  /** systemd waits for the first supervisor; of one that takes over it hears from the one before. */
  readonly isFirst: boolean;
}

export class Presence {
  readonly #options: PresenceOptions;
  /** When systemd is told next that this process is alive. */
  #aliveAt = -Infinity;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  serves(): void {
    const { log, systemd, settings, pid, isFirst } = this.#options;
    const { pidFile } = settings;
    try {
      if (pidFile !== undefined) replaceFile(pidFile, { text: `${pid}\n`, draft: `${pidFile}.${pid}` });
    } catch (error) {
      log.warn({ error: reasonOfFile(error) }, 'SVC_PID_FILE cannot be written');
    }
    if (isFirst && !systemd.tell('READY=1'))
      log.warn('the service manager cannot be told: see NOTIFY_SOCKET');
  }

  /** Another process serves; only the main one is listened to, so this one says it. */
  succeededBy(pid: number): void {
    this.#options.systemd.tell(`MAINPID=${pid}`);
  }

  /** To be called a few times a second: systemd kills a service that does not say in time that it is alive (WatchdogSec). */
  isAlive(nowMs: Millis): void {
    const { systemd } = this.#options;
    const { watchdogMs } = systemd;
    if (watchdogMs === undefined || nowMs < this.#aliveAt) return;
    systemd.tell('WATCHDOG=1');
    this.#aliveAt = nowMs + watchdogMs / 3;
  }

  stops(): void {
    this.#options.systemd.tell('STOPPING=1');
  }

  /** Removes the file, unless it names another process. */
  ends(): void {
    const { settings, pid } = this.#options;
    const { pidFile } = settings;
    if (pidFile === undefined) return;
    try {
      if (readFileSync(pidFile, 'utf8').trim() === String(pid)) rmSync(pidFile);
    } catch (error) {
      // A file that is not there or not ours needs nothing.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
