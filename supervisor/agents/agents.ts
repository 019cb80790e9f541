/**
 * The agents of a service that has many (SVC_AGENTS_DIR): which versions are in force, which of them a call gets, and what workers are told. The
 * version that a running call began with is kept until no call needs it.
 */
import { AgentTable, type AgentChoice, type CallFacts } from '../../shared/agents/choose.ts';
import { readChosen, writeChosen } from '../../shared/agents/chosen.ts';
import type { AgentAsked, AgentsChanged, AgentsForWorker } from '../../shared/agents/messages.ts';
import type { AfterCallSetup, AfterCallVersions } from '../../shared/calls/messages.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { AgentLeft, AgentUse } from '../../shared/agents/takeover.ts';
import { mayCall, type AgentVersion } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';
import { showProblem } from '../../shared/config/problem.ts';
import type { AgentPlace } from '../../shared/installation/agents-folder.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { refusal, type Answer } from '../http/refusals.ts';
import { AgentsInUse, type CallsSite } from './agents-in-use.ts';
import type { UsedMinutes } from './used-minutes.ts';
import { Catalogue, type CatalogueChange, type FileReading } from './catalogue.ts';
import type { Folder, FolderEvents, FoundAgent } from './folder-watch.ts';

/** A version that was replaced is kept at least this long: a call may be on its way to it. */
const keptMs: Millis = 60_000;
const tidyEveryMs: Millis = 10_000;

/** The agent of SVC_AGENT_FILE, as it was read at the start. */
export interface OwnAgent {
  readonly place: AgentPlace;
  readonly version: AgentVersion;
  readonly named: readonly string[];
  /** What happens after its calls; absent: nothing. */
  readonly afterCall?: AfterCallSetup | undefined;
}

export interface AgentsOptions {
  readonly unknown: 'default' | 'refuse';
  readonly own: OwnAgent;
  /** Looks after the folder. */
  readonly watch: (events: FolderEvents) => Folder;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  /** Where minutes of a day are kept; absent: nowhere. */
  readonly minutes?: UsedMinutes | undefined;
  /** Why an agent that reads well cannot be served here; undefined where it can. */
  readonly whyNot: (found: FoundAgent) => string | undefined;
  readonly afterCallOf: (definition: AgentDefinition, version: AgentVersion) => AfterCallSetup | undefined;
}

/** What a service of many agents has to do with its workers and their calls. */
export interface AgentsSite extends CallsSite {
  readonly metrics: Pick<SupervisorMetrics, 'agents' | 'agentChanges' | 'agentCalls' | 'agentRefusals'>;
  readonly send: (worker: number, message: AgentsChanged) => void;
  readonly readyWorkers: () => readonly number[];
  /** There are other versions. */
  readonly changed: () => void;
}

/** One agent as operators see it. */
export interface AgentView {
  readonly agent: string | null;
  readonly tenant: string | null;
  readonly file: string;
  readonly version: string | null;
  readonly since: string | null;
  /** Running calls, whichever version they began with. */
  readonly calls: number;
  readonly problem: string | null;
}

export class Agents {
  readonly #options: AgentsOptions;
  readonly #catalogue = new Catalogue();
  readonly #folder: Folder;
  readonly #inUse: AgentsInUse;
  #site: AgentsSite | undefined;
  #table: AgentTable;
  /** Every version that somebody may need, and when it was last in force. */
  readonly #versions = new Map<string, { readonly version: AgentVersion; neededAt: Millis }>();
  /** Hashes that each worker has. */
  readonly #known = new Map<number, Set<string>>();
  /** What happens after calls of a version. It goes with the version, whatever becomes of that. */
  readonly #afterCalls = new WeakMap<AgentVersion, AfterCallSetup>();
  #folderProblems: readonly string[] = [];

  constructor(options: AgentsOptions) {
    this.#options = options;
    const { own, watch, wallClock, log } = options;
    if (own.afterCall !== undefined) this.#afterCalls.set(own.version, own.afterCall);
    this.#catalogue.carry(own.place.path, own.version, { shown: own.place.shown, since: wallClock.now() });
    this.#inUse = new AgentsInUse(options);
    this.#table = this.#newTable();
    this.#folder = watch({
      found: (changes) => this.#take(changes),
      unusable: (problems) => {
        this.#folderProblems = problems;
        for (const problem of problems)
          log.error({ problem }, 'something in the folder of agents is no agent');
      },
      deaf: (reason) =>
        log.warn(
          { reason },
          'the system does not tell of changes in the folder of agents: it is looked at twice a second',
        ),
    });
  }

  /** Reads the whole folder. Resolves when every agent that is right is in force. */
  async open(): Promise<void> {
    await this.#folder.open();
  }

  /** From now on changes are told to workers, and calls are asked for what they need. */
  serve(site: AgentsSite): void {
    this.#site = site;
    this.#inUse.serve(site);
    this.#count();
    const tidy = (): void => {
      this.#tidy();
      this.#options.clock.after(tidyEveryMs, tidy);
    };
    this.#options.clock.after(tidyEveryMs, tidy);
  }

  close(): void {
    this.#inUse.keep();
    this.#folder.close();
  }

  // ---- calls ----

  choose(facts: CallFacts): AgentChoice {
    return this.#table.choose(facts);
  }

  /** The same as a text that travels with the call; undefined for a call that is refused. */
  chosen(facts: CallFacts): string | undefined {
    const choice = this.choose(facts);
    return choice.kind === 'chosen' ? writeChosen(choice.agent) : undefined;
  }

  /** Why a call that was given this agent is refused; undefined where there is room for it. */
  full(chosen: string | undefined): Answer | undefined {
    const id = chosen === undefined ? undefined : readChosen(chosen)?.id;
    const full = id === undefined ? undefined : this.#inUse.look(id);
    return full && refusal('agent_full', { retryAfterS: full.retryAfterS });
  }

  /** Its tenant may have this number called. */
  mayCall(chosen: string | undefined, number: string): boolean {
    const id = chosen === undefined ? undefined : readChosen(chosen)?.id;
    const hash = id === undefined ? undefined : this.#table.find(id)?.hash;
    const reach = hash === undefined ? undefined : this.#versions.get(hash)?.version.files.reach;
    return reach === undefined || mayCall(reach, number);
  }

  /** A call that was given this agent is told to come: its room is kept for some seconds. */
  expect(chosen: string | undefined): void {
    const id = chosen === undefined ? undefined : readChosen(chosen)?.id;
    if (id !== undefined) this.#inUse.expect(id);
  }

  /** The two together. True where there is room. */
  keepsRoom(chosen: string | undefined): boolean {
    if (this.full(chosen) !== undefined) return false;
    this.expect(chosen);
    return true;
  }

  /** A call may begin on this agent. */
  grants(asked: AgentAsked): boolean {
    return this.#inUse.grants(asked);
  }

  /** A call has this agent. */
  began(id: string): void {
    this.#inUse.began(id);
  }

  readGauges(): void {
    this.#inUse.readGauges();
  }

  /** New calls can get an agent of this id. */
  has(id: string): boolean {
    return this.#table.find(id) !== undefined;
  }

  // ---- workers ----

  /** What a worker is started with. */
  setup(worker: number): { readonly own: AgentVersion; readonly agents: AgentsForWorker } {
    this.#known.delete(worker);
    return { own: this.#own, agents: this.#forWorker(worker) };
  }

  /** It listens now; what it was told before is lost. */
  workerReady(worker: number): void {
    this.#tell(worker);
  }

  #tell(worker: number): void {
    this.#site?.send(worker, { type: 'agents.changed', ...this.#forWorker(worker) });
  }

  #forWorker(worker: number): AgentsForWorker {
    const known = this.#known.get(worker) ?? new Set();
    const all = [...this.#versions.values()].map(({ version }) => version);
    this.#known.set(worker, new Set(all.map(({ hash }) => hash)));
    const { id, hash } = this.#own;
    return {
      versions: all.filter((version) => !known.has(version.hash)),
      inForce: this.#catalogue.inForce.map((version) => ({ id: version.id, hash: version.hash })),
      kept: all.map((version) => version.hash),
      fallback: { id, hash },
      unknown: this.#options.unknown,
      limited: this.#inUse.limited,
      named: this.#inUse.named,
    };
  }

  // ---- a restart ----

  /** What the supervisor after this one goes on with. */
  give(): readonly AgentLeft[] {
    return this.#catalogue.given();
  }

  /** What the supervisor before this one had in force, and this one cannot have read. */
  inherit(left: readonly AgentLeft[]): void {
    this.#changed(this.#catalogue.inherit(left));
  }

  /** What calls use here, for the supervisor after this one. */
  giveUse(): AgentUse {
    return this.#inUse.give();
  }

  inheritUse(use: AgentUse | undefined, how: { readonly counts: boolean }): void {
    this.#inUse.inherit(use, how);
  }

  // ---- changes ----

  /** Looks at the folder at once. */
  async reload(): Promise<readonly AgentView[]> {
    await this.#folder.lookNow();
    return this.views;
  }

  #take(changes: ReadonlyMap<string, FoundAgent | undefined>): void {
    const { wallClock } = this.#options;
    const readings = [...changes]
      // An agent that the operator names in the settings does not leave with its file.
      .filter(([path, found]) => found !== undefined || path !== this.#options.own.place.path)
      .map(([path, found]) => [path, found && this.#reading(found)] as const);
    this.#changed(this.#catalogue.apply(new Map(readings), wallClock.now()));
  }

  #changed(change: CatalogueChange): void {
    this.#log(change);
    this.#table = this.#newTable();
    this.#count();
    if (change.added.length + change.changed.length + change.removed.length === 0) return;
    this.#tellAll();
  }

  #tellAll(): void {
    for (const worker of this.#site?.readyWorkers() ?? []) this.#tell(worker);
    this.#site?.changed();
  }

  #reading(found: FoundAgent): FileReading {
    const { place, reading } = found;
    const { version, problems } = reading;
    const wrong = problems.filter(({ severity }) => severity === 'error');
    const whyNot = version === undefined ? undefined : this.#options.whyNot(found);
    const afterCall = version && reading.definition && this.#options.afterCallOf(reading.definition, version);
    if (version !== undefined && afterCall !== undefined) this.#afterCalls.set(version, afterCall);
    const told = [
      ...wrong.map((problem) => showProblem(place.shown, problem)),
      ...(whyNot === undefined ? [] : [`${place.shown}: error: ${whyNot}`]),
    ];
    return {
      shown: place.shown,
      ...(place.tenant !== undefined && { tenant: place.tenant }),
      ...(version !== undefined && told.length === 0 && { version }),
      problems: told,
    };
  }

  #newTable(): AgentTable {
    const { inForce } = this.#catalogue;
    const now = this.#options.clock.now();
    for (const version of inForce) this.#versions.set(version.hash, { version, neededAt: now });
    this.#inUse.change(inForce);
    const { id, hash } = this.#own;
    return new AgentTable(inForce, { fallback: { id, hash }, unknown: this.#options.unknown });
  }

  get #own(): AgentVersion {
    return this.#catalogue.of(this.#options.own.place.path) ?? this.#options.own.version;
  }

  #log({ added, changed, removed, refused }: CatalogueChange): void {
    const { log } = this.#options;
    const metrics = this.#site?.metrics;
    const tell = (what: 'added' | 'changed' | 'removed', versions: readonly AgentVersion[]): void => {
      metrics?.agentChanges.inc({ what }, versions.length);
      for (const { id, hash } of versions.slice(0, mostTold))
        log.info({ agent: id, version: hash }, sentences[what]);
      if (versions.length > mostTold) log.info({ count: versions.length }, sentences[what]);
    };
    tell('added', added);
    tell('changed', changed);
    tell('removed', removed);
    metrics?.agentChanges.inc({ what: 'refused' }, refused.length);
    for (const { file, problems } of refused)
      log.error(
        { file, problems: problems.slice(0, mostTold) },
        'an agent file is wrong: its earlier settings stay in force',
      );
  }

  /** Forgets versions that no call needs and none can be on its way to. */
  #tidy(): void {
    const now = this.#options.clock.now();
    const needed = new Set(
      [...(this.#site?.ofCalls() ?? []), ...this.#catalogue.inForce].map(({ hash }) => hash),
    );
    const before = this.#versions.size;
    for (const [hash, entry] of this.#versions) {
      if (needed.has(hash)) entry.neededAt = now;
      else if (now - entry.neededAt >= keptMs) this.#versions.delete(hash);
    }
    const isNamedAnew = this.#inUse.tidy();
    if (this.#versions.size < before || isNamedAnew) this.#tellAll();
  }

  // ---- after calls ----

  /** What happens after calls, of every version that calls may have. */
  get afterCall(): AfterCallVersions {
    const all = [...this.#versions.values()].map(({ version }) => version);
    return {
      versions: all.flatMap((version) => this.#afterCalls.get(version) ?? []),
      kept: all.map(({ hash }) => hash),
      inForce: this.#catalogue.inForce.map(({ id, hash }) => ({ id, hash })),
    };
  }

  // ---- operators ----

  #count(): void {
    const { agents, agents_wrong: wrong } = this.counts;
    this.#site?.metrics.agents.set({ state: 'in_force' }, agents);
    this.#site?.metrics.agents.set({ state: 'problem' }, wrong);
  }

  get counts(): { readonly agents: number; readonly agents_wrong: number } {
    return { agents: this.#catalogue.inForce.length, agents_wrong: this.problems.length };
  }

  get views(): readonly AgentView[] {
    const calls = new Map<string, number>();
    for (const { id } of this.#site?.ofCalls() ?? []) calls.set(id, (calls.get(id) ?? 0) + 1);
    const rows = [...this.#catalogue.rows.values()].map(
      ({ file, tenant, version, since, problem }): AgentView => {
        const { id = null, hash = null } = version ?? {};
        const own = id === null ? 0 : (calls.get(id) ?? 0);
        if (id !== null) calls.delete(id);
        return {
          agent: id,
          tenant: tenant ?? null,
          file,
          version: hash,
          since: since === undefined ? null : new Date(since).toISOString(),
          calls: own,
          problem: problem ?? null,
        };
      },
    );
    const gone = [...calls].map(([id, count]): AgentView => ({
      agent: id,
      tenant: id.includes('/') ? (id.split('/')[0] ?? null) : null,
      file: '',
      version: null,
      since: null,
      calls: count,
      problem: 'the agent was removed; its calls go on',
    }));
    return [...rows, ...gone];
  }

  /** What is wrong at present, one line each. */
  get problems(): readonly string[] {
    const ofFiles = [...this.#catalogue.rows.values()].flatMap(({ problem }) => problem ?? []);
    return [...ofFiles, ...this.#folderProblems];
  }
}

/** Agents that one line of the log names each; a folder that is filled with a thousand needs no thousand lines. */
const mostTold = 20;
const sentences = {
  added: 'an agent was added',
  changed: 'an agent was changed: new calls get this version',
  removed: 'an agent was removed: it gets no new calls',
} as const;
