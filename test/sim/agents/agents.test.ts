/**
 * Calls of many agents in a service whose files change all the time: a supervisor, workers that die and start again, messages that are under way.
 * Whatever happens, a call that is led to an agent hears this one, or the default where the agent is gone by then; and it hears the same version until its
 * end. A model of its own says what has to be heard: what each file says, and what each worker was told.
 */
import { describe, expect, it } from 'vitest';
import pino from 'pino';
import { chosenKeys, readChosen } from '../../../shared/agents/chosen.ts';
import type { AgentsForWorker } from '../../../shared/agents/messages.ts';
import { hashOf, type AgentRef, type AgentVersion } from '../../../shared/agents/version.ts';
import { noRouting } from '../../../shared/agents/routing.ts';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { newSupervisorMetrics, newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { Agents, type OwnAgent } from '../../../supervisor/agents/agents.ts';
import type { FolderEvents } from '../../../supervisor/agents/folder-watch.ts';
import { WorkerAgents } from '../../../worker/agents/agents.ts';
import type { AgentSite } from '../../../worker/agents/equip.ts';
import type { CalledAgent } from '../../../worker/call/services.ts';
import { loadAgent } from '../../../worker/host/agent.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { newFailureLog } from '../../../worker/stages/failure-log.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { tries } from '../../support/sampled.ts';

const silent = pino({ level: 'silent' });
const workers = 3;
const mostCalls = 60;

const textOf = (name: string, greeting: string): string => `
[agent]
name = "${name}"
prompt = "You are under test."
greeting = "${greeting}"
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "ws://127.0.0.1:1"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "http://127.0.0.1:1"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "http://127.0.0.1:1"
preset = "generic"
model = "fake"
`;
const numberOf = (id: string): string => `+1${id.replaceAll(/\D/g, '').padStart(6, '7')}`;

/** A version whose greeting names it. */
function versionOf(id: string, count: number): AgentVersion {
  const [tenant, name = id] = id.includes('/') ? id.split('/') : [undefined, id];
  const text = textOf(name, `${id} ${count}`);
  const files = { texts: {}, recordings: {} };
  const routing = { ...noRouting, numbers: [numberOf(id)], open: id.endsWith('5') };
  return { id, name, ...(tenant && { tenant }), hash: hashOf(id, { text, files }), text, files, routing };
}

/** A call as its worker has it. */
interface Live {
  worker: number;
  readonly wanted: string;
  readonly greeting: string;
  readonly agent: AgentRef;
  called: CalledAgent;
}

/** What is on its way to a worker, in order. */
type Message = { readonly agents: AgentsForWorker } | { readonly start: Start } | { readonly left: Live };
interface Start {
  readonly wanted: string;
  readonly metadata: Readonly<Record<string, string>>;
}

class World {
  readonly prng: Prng;
  readonly clock = newVirtualClock();
  readonly ids: readonly string[];
  readonly #counts = new Map<string, number>();
  readonly #own = versionOf('own', 0);
  readonly #agents: Agents;
  #events: FolderEvents | undefined;
  /** Ids whose files are there. */
  readonly there = new Set<string>();
  readonly lines: {
    agents: WorkerAgents | undefined;
    queue: Message[];
    inForce: ReadonlyMap<string, string>;
  }[] = [];
  readonly calls: Live[] = [];
  readonly greetings = new Map<string, string>();
  heard = 0;
  takenUp = 0;
  gone = 0;

  constructor(seed: number) {
    this.prng = newPrng(seed);
    this.ids = Array.from({ length: 90 }, (_, at) => `t${at % 7}/a${at}`);
    const own: OwnAgent = { place: { path: 'own', shown: 'own' }, version: this.#own, named: [] };
    this.greetings.set(this.#own.hash, 'own 0');
    this.#agents = new Agents({
      unknown: 'default',
      own,
      watch: (events) => {
        this.#events = events;
        const done = (): Promise<void> => Promise.resolve();
        return { open: done, lookNow: done, close: () => undefined };
      },
      clock: this.clock,
      wallClock: this.clock,
      log: silent,
      afterCallOf: () => undefined,
      whyNot: () => undefined,
    });
    this.#agents.serve({
      changed: () => undefined,
      metrics: newSupervisorMetrics(),
      send: (worker, message) => this.lines[worker]?.queue.push({ agents: message }),
      readyWorkers: () => [...this.lines.keys()].filter((worker) => this.lines[worker]?.agents !== undefined),
      ofCalls: () => this.calls.map(({ agent }) => agent),
      agentOf: () => undefined,
    });
  }

  async open(): Promise<void> {
    this.change(this.ids.slice(0, 60));
    for (let worker = 0; worker < workers; worker += 1) await this.startWorker(worker);
  }

  /** New versions of these, whether they were there or not. */
  change(ids: readonly string[]): void {
    const found = ids.map((id) => {
      const count = (this.#counts.get(id) ?? 0) + 1;
      this.#counts.set(id, count);
      this.there.add(id);
      const version = versionOf(id, count);
      this.greetings.set(version.hash, `${id} ${count}`);
      const place = { path: id, shown: id };
      return [id, { place, reading: { version, problems: [], named: [] } }] as const;
    });
    this.#events?.found(new Map(found));
  }

  /** Its file is wrong: what it said before holds. */
  breakFile(id: string): void {
    const problem = { severity: 'error', path: '', line: 1, column: 1, message: 'is wrong' } as const;
    const place = { path: id, shown: id };
    this.#events?.found(new Map([[id, { place, reading: { problems: [problem], named: [] } }]]));
  }

  remove(id: string): void {
    this.there.delete(id);
    this.#events?.found(new Map([[id, undefined]]));
  }

  /** A worker begins with what the supervisor has then, and is told the rest once it listens. */
  async startWorker(worker: number): Promise<void> {
    const { own, agents } = this.#agents.setup(worker);
    const site = {
      clock: this.clock,
      machineMs: () => this.clock.now(),
      log: silent,
      metrics: newWorkerMetrics(),
    };
    const failures = newFailureLog(this.clock, silent);
    const observation: AgentSite['observation'] = {
      observerOf: () => () => [],
      accountsOf: () => undefined,
      traceOf: undefined,
      noted: undefined,
      monitors: undefined,
      liveCalls: () => [],
      endCall: () => undefined,
      close: () => Promise.resolve(),
    };
    const made = new WorkerAgents({
      site: {
        ...site,
        ...{
          boxes: newMailboxes(),
          worker,
          failures,
          budgets: new RetryBudgets(),
          observation,
          agentCa: [],
          callControl: {},
        },
        askCarrier: () => undefined,
      },
      own: await loadAgent({ agentText: own.text, files: own.files }),
      many: agents,
    });
    this.lines[worker] = { agents: made, queue: [], inForce: inForceOf(agents) };
    this.#agents.workerReady(worker);
  }

  /** A call comes, by whatever says where it is to go, and is on its way to a worker. */
  call(): void {
    const { prng } = this;
    const id = prng.pick(this.ids);
    const worker = prng.below(workers);
    const ways = ['signed', 'number', 'asked', 'start'] as const;
    const way = prng.pick(ways);
    if (way === 'start') {
      const metadata = { agent: id };
      this.lines[worker]?.queue.push({ start: { wanted: id.endsWith('5') ? id : 'own', metadata } });
      return;
    }
    const facts = { signed: { signed: id }, number: { numbers: [numberOf(id)] }, asked: { asked: id } }[way];
    const chosen = this.#agents.chosen(facts);
    const isThere = this.there.has(id) && (way !== 'asked' || id.endsWith('5'));
    expect(readChosen(chosen ?? '')?.id).toBe(isThere ? id : 'own');
    const metadata = { [chosenKeys.signed]: chosen ?? '' };
    this.lines[worker]?.queue.push({ start: { wanted: isThere ? id : 'own', metadata } });
  }

  /** The oldest message of a worker arrives. */
  async deliver(worker: number): Promise<void> {
    const line = this.lines[worker];
    const message = line?.queue.shift();
    if (line?.agents === undefined || message === undefined) return;
    if ('agents' in message) {
      line.agents.change(message.agents);
      line.inForce = inForceOf(message.agents);
      return;
    }
    if ('left' in message) {
      await this.takeUp(line.agents, message.left);
      return;
    }
    const { wanted, metadata } = message.start;
    const given = line.agents.of({ callId: 'c', sampleRate: 16_000, encoding: 'pcm16', metadata });
    // What the worker was told last decides.
    const id = line.inForce.has(wanted) ? wanted : 'own';
    const hash = line.inForce.get(id) ?? this.#own.hash;
    if (given === 'unknown') throw new Error('nobody is refused here');
    const called = await given;
    const { greeting } = called.services.settings;
    expect(greeting).toBe(this.greetings.get(hash));
    expect(called.services.agent).toBe(id);
    this.heard += 1;
    this.calls.push({ worker, wanted, greeting, agent: { id, hash }, called });
    if (this.calls.length > mostCalls) this.end(0);
  }

  /** From the record: nothing is left of it in the supervisor but which version it has. */
  async takeUp(agents: WorkerAgents, call: Live): Promise<void> {
    if (!this.calls.includes(call)) return;
    await agents.pending(call.agent);
    call.called = agents.again(call.agent);
    expect(call.called.services.settings.greeting).toBe(call.greeting);
    this.takenUp += 1;
  }

  end(at: number): void {
    const [call] = this.calls.splice(at, 1);
    call?.called.release();
  }

  /** A worker is killed: others take its calls up from what was written down, and what was on its way comes again. */
  async kill(worker: number): Promise<void> {
    const queue = this.lines[worker]?.queue ?? [];
    this.gone += 1;
    const left = this.calls.filter((call) => call.worker === worker);
    const again: Message[] = queue.filter((message) => !('agents' in message));
    for (const call of left) {
      // What had not arrived yet is told once more to the next one.
      if (!again.some((message) => 'left' in message && message.left === call)) again.push({ left: call });
      call.called = gone;
    }
    await this.startWorker(worker);
    for (const message of again) {
      const next = this.prng.below(workers);
      if ('left' in message) message.left.worker = next;
      this.lines[next]?.queue.push(message);
    }
  }
}

/** It went with its worker. */
const gone: CalledAgent = {
  get services(): never {
    throw new Error('the worker is gone');
  },
  release: () => undefined,
};

const inForceOf = ({ inForce }: AgentsForWorker): ReadonlyMap<string, string> =>
  new Map(inForce.map(({ id, hash }) => [id, hash]));

async function run(seed: number, calls: number): Promise<World> {
  const world = new World(seed);
  await world.open();
  const { prng } = world;
  while (world.heard < calls) {
    const dice = prng.below(1_000);
    if (dice < 450) world.call();
    else if (dice < 940)
      for (let count = prng.below(5); count >= 0; count -= 1) await world.deliver(prng.below(workers));
    else if (dice < 950) world.change([prng.pick(world.ids)]);
    else if (dice < 951) world.change(world.ids.filter(() => prng.chance(0.1)));
    else if (dice < 956) world.breakFile(prng.pick([...world.there]));
    else if (dice < 962) world.remove(prng.pick([...world.there]));
    else if (dice < 964) await world.kill(prng.below(workers));
    else if (world.calls.length > 0) world.end(prng.below(world.calls.length));
    world.clock.advance(prng.below(300));
  }
  return world;
}

/** Of each seed; 20,000 in all, in a build a quarter. */
const callsOfSeed = tries(5_000, 1_250);

describe('calls of 90 agents', () => {
  it.each([1, 2, 3, 4])(
    'are each heard by their own agent, in one version to the end (seed %i)',
    async (seed) => {
      const world = await run(seed, callsOfSeed);
      expect(world.takenUp).toBeGreaterThan(callsOfSeed / 50);
      expect(world.gone).toBeGreaterThan(callsOfSeed / 500);
    },
  );
});
