/** What becomes of tools that run when the caller hangs up, or when nobody waits for them any more. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { ToolRegistry } from '../../../worker/tools/registry.ts';
import { noCallControl, type ToolReport } from '../../../worker/tools/tool.ts';
import { closeRegistries, newRegistry, orderOf, runTool } from '../../support/core/tool-call.ts';
import { ScriptedMcpServer } from '../../support/mcp-server.ts';
import { newStageContext } from '../../support/core/stage-context.ts';

type Kind = 'read_only' | 'side_effect';
const closing: (() => void)[] = [];
afterEach(async () => {
  await closeRegistries();
  for (const close of closing.splice(0)) close();
});

/** A response that waits to be given, and whether its client was there to the end. */
interface Waiting {
  readonly response: ServerResponse;
  readonly isWhole: Promise<boolean>;
}

const waitingOf = (response: ServerResponse): Waiting => ({
  response,
  isWhole: new Promise((resolve) => response.once('close', () => resolve(response.writableFinished))),
});

async function overHttp(kind: Kind, timeoutMs = 5_000) {
  let took: (waiting: Waiting) => void = () => undefined;
  const taken = new Promise<Waiting>((resolve) => (took = resolve));
  const server: Server = createServer((request, response) => {
    if (request.url === '/ping') response.end();
    else took(waitingOf(response));
  });
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registry = newRegistry(
    `[[tools]]\nname = "act"\ndescription = "d"\nkind = "${kind}"\n[tools.http]\nallow_private = true\nurl = "${origin}/act"\n`,
  );
  return { ...running(registry, timeoutMs), ...(await taken), ping: () => fetch(`${origin}/ping`) };
}

function running(registry: ToolRegistry, timeoutMs: number) {
  const reports: ToolReport[] = [];
  const call = registry.openCall(newStageContext(systemClock), { control: noCallControl });
  const run = call.tools.run(orderOf('act', {}, timeoutMs), (report) => void reports.push(report));
  return { call, run, reports };
}

describe('a tool over HTTP that runs when the caller hangs up', () => {
  it('is cut where it only reads', async () => {
    const { call, isWhole, reports } = await overHttp('read_only');
    call.close();
    expect([await isWhole, reports]).toEqual([false, []]);
  });

  it('ends its work where it has effects, and reports to nobody', async () => {
    const { call, response, isWhole, reports, ping } = await overHttp('side_effect');
    call.close();
    await ping();
    expect(response.destroyed).toBe(false);
    response.end('{}');
    expect([await isWhole, reports]).toEqual([true, []]);
  });

  it('has its own time for that, and no more', async () => {
    const { call, isWhole, reports } = await overHttp('side_effect', 20);
    call.close();
    expect([await isWhole, reports]).toEqual([false, []]);
  });

  it.each(['interrupted', 'abandoned'] as const)('ends its work where it is %s', async (reason) => {
    const { run, response, isWhole, ping } = await overHttp('side_effect');
    run.cancel(reason);
    await ping();
    response.end('{}');
    expect(await isWhole).toBe(true);
  });

  it('is cut where its time is over', async () => {
    const { run, isWhole } = await overHttp('side_effect');
    run.cancel('timeout');
    expect(await isWhole).toBe(false);
  });
});

describe('a tool of a server that runs when the caller hangs up', () => {
  async function overMcp(kind: Kind) {
    let took: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (took = resolve));
    const server = new ScriptedMcpServer({
      page: '{"tools":[{"name":"act"},{"name":"other"}]}',
      call: ({ params }) => {
        if (params['name'] === 'other') return '{}';
        took();
        return undefined;
      },
    });
    closing.push(() => server.close());
    const effects = kind === 'side_effect' ? 'side_effects = ["act"]\n' : '';
    const registry = newRegistry(`[[mcp]]\nname = "far"\nurl = "${await server.start()}"\n${effects}`);
    await registry.start(noCallControl);
    const { call, reports } = running(registry, 5_000);
    await taken;
    call.close();
    // What the server is told of the first one comes before.
    const next = registry.openCall(newStageContext(systemClock), { control: noCallControl });
    await runTool(next.tools, 'other');
    return { told: server.told.filter((method) => method !== 'notifications/initialized'), reports };
  }

  it('is given up where it only reads', async () => {
    expect(await overMcp('read_only')).toEqual({ told: ['notifications/cancelled'], reports: [] });
  });

  it('is left to end its work where it has effects', async () => {
    expect(await overMcp('side_effect')).toEqual({ told: [], reports: [] });
  });
});
