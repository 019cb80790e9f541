/** Tool servers that agents share: one connection for those of one tenant that say the same, and never one for two tenants. */
import { describe, expect, it } from 'vitest';
import type { McpDefinition } from '../../../shared/config/agent/mcp.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { ToolServers } from '../../../worker/tools/mcp/tool-servers.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Log;
const definition = (secret = 'one', more: Partial<McpDefinition> = {}): McpDefinition => ({
  name: 'crm',
  from: { command: ['true'], env: new Map([['CRM_TOKEN', new Sensitive(secret)]]) },
  ...{ sideEffects: [], confirm: [], arguments: {}, timeoutMs: 1_000, fillerAfterMs: 0 },
  ...more,
});

function newServers() {
  const servers = new ToolServers();
  const options = { clock: newVirtualClock(), log, failed: () => undefined };
  return (one: McpDefinition, owner?: string, changed = (): void => undefined, isPublicOnly = false) =>
    servers.take(one, owner, { ...options, changed, isPublicOnly });
}

describe('a tool server', () => {
  it('is one for agents of a tenant that say the same of it', () => {
    const take = newServers();
    expect(take(definition(), 'clinic').server).toBe(take(definition(), 'clinic').server);
    expect(take(definition()).server).toBe(take(definition()).server);
  });

  it.each([
    ['another tenant', definition(), 'diner'],
    ['the operator', definition(), undefined],
    ['a secret of another value', definition('two'), 'clinic'],
    ['other tools', definition('one', { tools: ['a'] }), 'clinic'],
    ['other arguments', definition('one', { arguments: { id: '{{call.id}}' } }), 'clinic'],
    ['another program', definition('one', { from: { command: ['false'], env: new Map() } }), 'clinic'],
    ['an address', definition('one', { from: { url: 'https://a', secretHeaders: new Map() } }), 'clinic'],
  ])('is another one for %s', (_, other, owner) => {
    const take = newServers();
    expect(take(other, owner).server).not.toBe(take(definition(), 'clinic').server);
  });

  it('is another one where it may lead to public addresses alone', () => {
    const take = newServers();
    const fenced = take(definition(), 'clinic', undefined, true);
    expect(fenced.server).not.toBe(take(definition(), 'clinic').server);
  });

  it('ends with the last agent that has it, and is a new one after that', async () => {
    const take = newServers();
    const [first, second] = [take(definition(), 'clinic'), take(definition(), 'clinic')];
    await first.close();
    await first.close();
    expect(take(definition(), 'clinic').server).toBe(second.server);
    const third = take(definition(), 'clinic');
    for (const one of [second, third]) await one.close();
    expect(take(definition(), 'clinic').server).toBe(second.server);
  });

  it('is connected once', () => {
    const take = newServers();
    const [first, second] = [take(definition(), 'clinic'), take(definition(), 'clinic')];
    const started = first.start();
    expect(second.start()).toBe(started);
  });
});
