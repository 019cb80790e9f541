/**
 * `check FILE --connect`: tries everything that the agent file reaches over the network before a caller does. Each provider is
 * resolved, connected and asked for one thing; tool servers list their tools; a tool over HTTP is connected and never run.
 */
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import type { Packages } from '../../../shared/config/stages/package.ts';
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { stageDefinitions } from '../../../worker/host/definition.ts';
import { shownCause, shownSource, type Failure } from '../../../worker/stages/failure-log.ts';
import { newFailureReader } from '../../../worker/stages/provider-failure.ts';
import { providerSite } from '../../../worker/stages/registry.ts';
import { isPublicAddress } from '../../../shared/runtime/address-guard.ts';
import { httpToolSite } from '../../../worker/tools/http-tool.ts';
import { ToolCatalog } from '../../../worker/tools/catalog.ts';
import { McpServer } from '../../../worker/tools/mcp/server.ts';
import { sourcesOf } from '../../../worker/tools/registry.ts';
import { mcpSite, toolFailure } from '../../../worker/tools/tool-failure.ts';
import { printable, shownMs } from '../../commands/printable.ts';
import type { Colours } from '../colours.ts';
import { probeWay, type Step } from '../network-probe.ts';
import { askOnce, openProbe } from './stage-probes.ts';

/** What became of one thing that the file names. */
export interface Tried {
  readonly who: Omit<Failure, 'reason'>;
  readonly steps: readonly Step[];
  readonly failure?: Omit<Failure, 'stage' | 'provider'>;
  /** Notes on what differs from the file or the server; none of them fails the check. */
  readonly notes?: readonly string[];
}

export interface ConnectCheckOptions {
  readonly packages: Packages;
  readonly clock: Clock;
  readonly colours: Colours;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
  /** Agent processes that are being tried. */
  readonly agents?: readonly Promise<Tried>[];
}

/** Tries everything at once and tells it in the order of the file. Returns the exit status: 1 when anything failed. */
export async function checkConnections(
  definition: AgentDefinition,
  { packages, clock, colours, write, agents = [] }: ConnectCheckOptions,
): Promise<0 | 1> {
  const running = [
    ...providersOf(definition).map((place) => tryProvider(definition, place, { packages, clock })),
    ...definition.mcp.map((server) => tryMcp(server, clock)),
    ...definition.tools.map((tool) => tryHttpTool(tool, clock)),
    ...agents,
  ];
  let failed = 0;
  for (const one of running) {
    const { who, steps, failure, notes = [] } = await one;
    const passed = steps.map(({ what, ms }) => `${what} in ${shownMs(ms)}`);
    if (failure !== undefined) failed += 1;
    const outcome = [...passed, ...(failure === undefined ? [] : [shownCause(failure)])].join(', ');
    const mark = failure === undefined ? colours.good('ok    ') : colours.bad('FAILED');
    write(`${mark}  ${printable(shownSource(who))}: ${printable(outcome)}`);
    for (const note of notes)
      write(`${colours.aside('note  ')}  ${printable(shownSource(who))}: ${printable(note)}`);
  }
  write(failed === 0 ? 'everything answers' : `${failed} of ${running.length} failed`);
  return failed === 0 ? 0 : 1;
}

interface Place {
  readonly stage: StageName;
  readonly role: ProviderRole;
}

const providersOf = (definition: AgentDefinition): Place[] => [
  ...(['stt', 'llm', 'tts'] as const).flatMap((stage): Place[] => [
    ...(definition[stage] === undefined ? [] : [{ stage, role: 'primary' } as const]),
    ...(definition[stage]?.secondary === undefined ? [] : [{ stage, role: 'secondary' } as const]),
  ]),
  ...(definition.realtime === undefined ? [] : [{ stage: 'realtime', role: 'primary' } as const]),
];

async function tryProvider(
  definition: AgentDefinition,
  place: Place,
  { packages, clock }: { readonly packages: Packages; readonly clock: Clock },
): Promise<Tried> {
  const stages = stageDefinitions(definition);
  const { site, url } = providerSite(stages, place);
  const failureOf = newFailureReader(site);
  const who = failureOf({ kind: 'disconnected' });
  // A package that tells no address is asked at once.
  const way = url === undefined ? { steps: [] } : await probeWay(url, { clock });
  if (way.error !== undefined) return { who, steps: way.steps, failure: failureOf(way.error) };
  const probe = await openProbe(stages, { ...place, packages });
  const startedAt = clock.now();
  const error = await askOnce(probe, clock);
  const tookMs = clock.now() - startedAt;
  await probe.close();
  if (error !== undefined) return { who, steps: way.steps, failure: failureOf(error) };
  return { who, steps: [...way.steps, { what: probe.what, ms: tookMs }] };
}

async function tryMcp(definition: AgentDefinition['mcp'][number], clock: Clock): Promise<Tried> {
  const failures: Failure[] = [];
  const log = newLog({ role: 'check', level: 'fatal', to: { write: () => undefined } });
  const failed = (failure: Failure): void => void failures.push(failure);
  const server = new McpServer(definition, { clock, log, failed, changed: () => undefined });
  const startedAt = clock.now();
  await server.start();
  const tookMs = clock.now() - startedAt;
  const late = toolFailure(mcpSite(definition), { kind: 'timeout', what: 'listing' });
  const { isConnected, tools } = server;
  const notes = notesOn(definition, server);
  await server.close();
  if (!isConnected) return { who: late, steps: [], failure: failures[0] ?? late };
  return {
    who: late,
    steps: [{ what: `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'} listed`, ms: tookMs }],
    notes,
  };
}

/** Tools that the LLM is not offered, or by another name. */
function notesOn(definition: AgentDefinition['mcp'][number], server: McpServer): string[] {
  const { catalog, refused } = ToolCatalog.build(sourcesOf({ definition, server }), {
    flow: undefined,
    allowed: () => true,
  });
  const others = catalog
    .declarations()
    .flatMap(({ name, ownName }) => (ownName === undefined ? [] : [{ name, ownName }]));
  return [
    ...[...server.leftOut, ...refused].map(
      ({ name, rule }) => `a tool is left out: ${`${name} ${rule}`.trim()}`,
    ),
    ...server.missing.map((name) => `the file names the tool ${name}, which the server does not list`),
    ...others.map(({ name, ownName }) => `the tool ${ownName} is ${name} to the LLM`),
  ];
}

async function tryHttpTool({ name, http }: AgentDefinition['tools'][number], clock: Clock): Promise<Tried> {
  const site = httpToolSite(name, http);
  const { host } = site.url;
  const who = { stage: site.stage, provider: name, host };
  const mayReach = (address: string): boolean => http.allowPrivate || isPublicAddress(address);
  const way = await probeWay(site.url, { clock, mayReach });
  return way.error === undefined
    ? { who, steps: way.steps }
    : { who, steps: way.steps, failure: toolFailure(site, way.error) };
}
