/** A set of ids in a Redis or Valkey server: one `SET NX PX` for each id, under a digest of the id. */
import { ok, type Result } from '../../shared/base/result.ts';
import type { Millis } from '../../shared/base/units.ts';
import { digestOf, type RedisLine } from '../fleet/redis-line.ts';
import type { SharedSet } from './token-store.ts';

const keyPrefix = 'svc:token:';

export class RedisSet implements SharedSet {
  readonly #line: RedisLine;

  constructor(line: RedisLine) {
    this.#line = line;
  }

  async add(id: string, ttlMs: Millis): Promise<Result<'added' | 'present', string>> {
    const reply = await this.#line.ask((client) =>
      client.set(keyPrefix + digestOf(id), '1', {
        condition: 'NX',
        expiration: { type: 'PX', value: ttlMs },
      }),
    );
    return reply.ok ? ok(reply.value === null ? 'present' : 'added') : reply;
  }

  async remove(id: string): Promise<void> {
    await this.#line.ask((client) => client.del(keyPrefix + digestOf(id)));
  }

  close(): void {
    this.#line.close();
  }
}
