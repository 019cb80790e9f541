/**
 * An agent as single calls have it (docs/overrides.md): its services with what a call has otherwise. Stages with another voice, model or
 * language are opened once and shared by the calls that have the same; so many that no call has are kept.
 */
import type { Overrides } from '../../shared/agents/overrides.ts';
import { varyAgent, type Varied } from '../../shared/agents/vary.ts';
import { present } from '../../shared/base/present.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { AgentServices, VariedAgent } from '../call/services.ts';
import type { LoadedAgent } from '../host/agent.ts';
import {
  callSettings,
  knownTexts,
  speechSettings,
  toolBook,
  type WorkerFeatures,
} from '../host/definition.ts';
import type { CallSettings } from '../core/settings.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { EquippedStages } from './equip-stages.ts';

/** Without a call. */
const mostIdle = 16;

interface Shared {
  readonly stages: EquippedStages;
  calls: number;
}

export interface VariantsOptions {
  readonly agent: LoadedAgent;
  readonly features: WorkerFeatures;
  readonly registry: ToolRegistry;
  /** What calls have that have nothing otherwise. */
  readonly base: AgentServices;
  readonly openStages: (definition: AgentDefinition, texts: KnownTexts) => EquippedStages;
}

type KnownTexts = ReturnType<typeof knownTexts>;

export class Variants {
  readonly #options: VariantsOptions;
  readonly #baseKey: string;
  /** By what they are opened with, those used last at the end. */
  readonly #shared = new Map<string, Shared>();

  constructor(options: VariantsOptions) {
    this.#options = options;
    const { agent, base } = options;
    this.#baseKey = keyOf(agent.definition, this.#textsOf(base.settings));
  }

  readonly vary = (given: Overrides, node?: string): VariedAgent => {
    const { agent, base, features, registry } = this.#options;
    const { definition, applied, problems } = this.#read(given, node);
    if (definition === agent.definition)
      return { services: base, release: () => undefined, applied, problems };
    const settings = callSettings(definition, features);
    const { stages, release } = this.#stagesOf(definition, settings);
    const { agent: own, turn, telephony } = definition;
    const services: AgentServices = {
      ...base,
      ...stages,
      settings,
      timezone: own.timezone,
      carriers: { ...base.carriers, telephony, language: own.language },
      speech: speechSettings(definition, features),
      echo: turn.echo,
      bookOf: ({ tools }) => toolBook(definition, tools),
      openTools: (context, { metadata, remote, control }) => {
        const allowed = own.tools;
        const tools = registry.openCall(context, { control, metadata, allowed, ...(remote && { remote }) });
        return { tools, book: toolBook(definition, tools.tools) };
      },
    };
    return { services, release, applied, problems };
  };

  /** What a node has of its own stands above what the call has otherwise; what is said of a call of its own is judged alone. */
  #read(given: Overrides, node: string | undefined): Varied {
    const { agent } = this.#options;
    const varied = varyAgent(agent.definition, given, agent);
    const { flow } = agent.definition;
    const own =
      node !== undefined && flow && Object.hasOwn(flow.nodes, node) ? flow.nodes[node]?.own : undefined;
    if (own === undefined) return varied;
    const { applied, problems } = varied;
    const within = varyAgent(agent.definition, { ...own, ...applied, ...own }, agent, Object.keys(own));
    return { definition: within.definition, applied, problems: [...problems, ...within.problems] };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#shared.values()].map(({ stages }) => stages.close()));
  }

  #stagesOf(
    definition: AgentDefinition,
    settings: Omit<CallSettings, 'tools'>,
  ): { readonly stages: Partial<AgentServices>; readonly release: () => void } {
    const texts = this.#textsOf(settings);
    const key = keyOf(definition, texts);
    if (key === this.#baseKey) return { stages: {}, release: () => undefined };
    const known = this.#shared.get(key);
    const shared = known ?? { stages: this.#options.openStages(definition, texts), calls: 0 };
    this.#shared.delete(key);
    this.#shared.set(key, shared);
    shared.calls += 1;
    const release = (): void => {
      shared.calls -= 1;
      this.#trim();
    };
    return { stages: { ...shared.stages.services, ...this.#sameAsBase(definition, texts) }, release };
  }

  /** Stages that are as those of the agent are those: a call that moves between nodes keeps its sessions with them. */
  #sameAsBase(definition: AgentDefinition, texts: KnownTexts): Partial<EquippedStages['services']> {
    const { agent, base } = this.#options;
    const { stt, operatorStt, llm, tts } = base;
    // A model that hears and speaks by itself is one session behind all three.
    if (definition.realtime !== undefined) return {};
    const own = agent.definition;
    const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
    return {
      ...(isSame(definition.stt, own.stt) && { stt, ...present({ operatorStt }) }),
      ...(isSame(definition.llm, own.llm) && { llm }),
      ...(isSame([definition.tts, texts], [own.tts, this.#textsOf(base.settings)]) && { tts }),
    };
  }

  /** A greeting of one call is not made ahead of time. */
  #textsOf(settings: Omit<CallSettings, 'tools'>): KnownTexts {
    const { greeting } = this.#options.base.settings;
    return knownTexts(settings.greeting === greeting ? settings : { ...settings, greeting: '' });
  }

  #trim(): void {
    const idle = [...this.#shared].filter(([, { calls }]) => calls === 0);
    for (const [key, { stages }] of idle.slice(0, -mostIdle)) {
      this.#shared.delete(key);
      void stages.close();
    }
  }
}

/** What stages are opened with. Keys of providers are not in it: they are the agent's own. */
const keyOf = ({ stt, llm, tts }: AgentDefinition, texts: KnownTexts): string =>
  JSON.stringify([stt ?? null, llm ?? null, tts ?? null, texts]);
