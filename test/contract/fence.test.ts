/** What the file of a tenant names reaches public addresses alone, whatever its names lead to by the time of the connection. */
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newPublicLookup } from '../../worker/stages/fence.ts';
import type { Lookup } from '../../worker/stages/lookup.ts';
import { newBoundedFetch } from '../../worker/tools/mcp/bounded-fetch.ts';
import { fail, providers, stageTable } from '../support/core/failing-stage.ts';

let server: Server;
let port: number;
let reached: number;

beforeAll(async () => {
  server = createServer((socket) => {
    reached += 1;
    socket.on('error', () => undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  reached = 0;
});
afterAll(() => void server.close());

describe('a provider of a tenant', () => {
  it.each(providers)(
    '%s is not asked where its name leads to a private address',
    async (provider, stage, options) => {
      const table = stageTable(provider, options, `localhost:${port}`);
      const { failure, error } = await fail(stage, table, { isPublicOnly: true });
      expect([error.kind, reached]).toEqual(['disconnected', 0]);
      expect(failure?.advice).toContain('allow.private_addresses');
    },
  );

  it.each(providers)('%s is not asked at an address that is no name', async (provider, stage, options) => {
    const table = stageTable(provider, options, `127.0.0.1:${port}`);
    expect((await fail(stage, table, { isPublicOnly: true })).error.kind).toBe('disconnected');
    expect(reached).toBe(0);
  });

  it('is asked where the operator says that it may, and where it is the operator`s own', async () => {
    const table = stageTable(
      'stt_local_ws',
      'stt_local_ws = { base_url = "ws://HOST" }',
      `localhost:${port}`,
    );
    await fail('stt', table, {});
    await fail('stt', table);
    expect(reached).toBe(2);
  });
});

describe('a tool server of a tenant', () => {
  it.each(['localhost', '127.0.0.1', '[::1]'])('is not asked at %s', async (host) => {
    const ask = newBoundedFetch({ isPublicOnly: true })(`http://${host}:${port}/mcp`, {
      method: 'POST',
      body: '{}',
    });
    await expect(ask).rejects.toThrow();
    expect(reached).toBe(0);
  });
});

describe('a name', () => {
  const look = (...addresses: string[]): unknown => {
    const find: Lookup = (_name, _options, answered) =>
      answered(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    let outcome: unknown;
    newPublicLookup(find)('host.example', { all: true }, (error, found) => (outcome = error ?? found));
    return outcome;
  };

  it.each([
    [['10.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['169.254.169.254']],
    [['100.100.100.200']],
    [['::ffff:10.0.0.1']],
    [['fd00:ec2::254']],
    [[]],
  ])('that leads to %j is refused', (addresses) => {
    expect(look(...addresses)).toBeInstanceOf(Error);
  });

  it('that leads to public addresses alone has all of them', () => {
    expect(look('93.184.216.34', '2606:4700::1111')).toHaveLength(2);
  });
});
