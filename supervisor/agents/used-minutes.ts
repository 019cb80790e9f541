/**
 * What agents and tenants have used of their minutes of a day, on disk, so that a service that is stopped and started counts on. One small file,
 * which is written now and then and when the service ends; the one before it stays until the new one is whole. A file that cannot be read counts as
 * nothing used.
 */
import { join } from 'node:path';
import * as z from 'zod';
import type { AgentUse } from '../../shared/agents/takeover.ts';
import { readBytes, reasonOfFile, replaceFile } from '../../shared/installation/named-files.ts';
import type { Log } from '../../shared/runtime/log.ts';

const fileName = 'agent-minutes.json';
/** Ten thousand agents and their tenants have less. */
const mostBytes = 4_194_304;

const form = z.object({ day: z.int(), usedMs: z.record(z.string().max(129), z.number().min(0)) });

export type Used = Pick<AgentUse, 'day' | 'usedMs'>;

export class UsedMinutes {
  readonly #path: string;
  readonly #log: Log;
  #written = '';
  #isBroken = false;

  /** `folder`: SVC_STATE_DIR. */
  constructor(folder: string, log: Log) {
    this.#path = join(folder, fileName);
    this.#log = log;
  }

  /** What was written last; undefined where there is nothing that can be read. */
  read(): Used | undefined {
    const bytes = readBytes(this.#path, mostBytes);
    if (bytes === undefined || bytes.length > mostBytes) return undefined;
    try {
      return form.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** Writes it down unless it stands there. A folder that cannot be written to is told of once. */
  write({ day, usedMs }: Used): void {
    const text = JSON.stringify({ day, usedMs });
    if (text === this.#written) return;
    try {
      replaceFile(this.#path, { text, draft: `${this.#path}.part` });
      this.#written = text;
      this.#isBroken = false;
    } catch (error) {
      if (!this.#isBroken)
        this.#log.warn({ error: reasonOfFile(error) }, 'the minutes of agents cannot be written down');
      this.#isBroken = true;
    }
  }
}
