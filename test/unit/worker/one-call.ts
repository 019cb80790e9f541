/** A call in a host in virtual time, with the world in memory. */
import { CallHost } from '../../../worker/host/call-host.ts';
import type { CallJournal } from '../../../worker/call/journal.ts';
import type { RouteOf } from '../../../worker/agent-link/routes.ts';
import type { AdmittedStart } from '../../../worker/call/admission.ts';
import type { CallLink } from '../../../worker/agent-link/contract.ts';
import type { CallSetup } from '../../../worker/call/opening.ts';
import type { SoundLoop } from '../../../worker/media/background/loop.ts';
import type { Overrides } from '../../../shared/agents/overrides.ts';
import type { AgentServices, CallServices, VariedAgent } from '../../../worker/call/services.ts';
import type { LookUpCall } from '../../../worker/agents/look-up.ts';
import { CallRunner, type CallRunnerOptions } from '../../../worker/call/runner.ts';
import {
  FakeStages,
  FakeTransport,
  newFakeWorld,
  Trap,
  withOneAgent,
} from '../../support/fakes/fake-call.ts';
import { newScriptedInference } from '../../support/audio/mailboxes.ts';

export type World = ReturnType<typeof newWorld>;
export type OneCall = ReturnType<World['newCall']>;

const start = { callId: 'c', sampleRate: 16_000, encoding: 'pcm16', metadata: {} } as const;

export type PrepareCall = () => CallSetup | Promise<CallSetup>;

/** An agent process that answers as it is told to, and does nothing else. */
const linkOf = (prepare: PrepareCall, ended: (reason: string) => void, refused: string[]): CallLink => ({
  prepare,
  ended,
  follow: () => undefined,
  clientSaid: () => false,
  equipped: () => undefined,
  refused: (rules) => void refused.push(...rules),
  tick: () => undefined,
  save: () => ({ seq: 1, nextCall: 1, ids: [], isEndedByAgent: false }),
  run: () => ({ cancel: () => undefined }),
});

export interface OneCallOptions {
  readonly begin?: boolean;
  /** The form of the call on its wire, where that is not 16 kHz. */
  readonly start?: Pick<AdmittedStart, 'sampleRate' | 'encoding'>;
  readonly journal?: CallJournal;
  readonly confirmMs?: number;
  /** Says what the call is to be, as its agent process would. */
  readonly prepare?: PrepareCall;
  /** Answers what the operator's server is asked, as it would. */
  readonly lookUp?: LookUpCall;
  /** What its agent is otherwise than the one of the tests. */
  readonly agent?: Partial<AgentServices>;
  /** What a call may have otherwise: other settings, on the same stages. */
  readonly vary?: (given: Overrides) => Omit<VariedAgent, 'services'> & Pick<AgentServices, 'settings'>;
  /** What another agent of the tenant is otherwise, by name. */
  readonly others?: Readonly<Record<string, Partial<AgentServices>>>;
  /** What the client says of itself, and what was signed. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Which process the call is led to. */
  readonly routeOf?: RouteOf;
  /** The call as its link is opened. */
  readonly linked?: (start: AdmittedStart) => void;
  /** What is heard behind the voice. */
  readonly background?: readonly SoundLoop[];
  /** What the agent says softly while it listens, with its sound where that is made. */
  readonly murmurs?: Readonly<Record<string, Int16Array | undefined>>;
  /** What of its answer it is told that the call does without. */
  readonly refused?: string[];
  /** What that process is told last. */
  readonly linkEnded?: (reason: string) => void;
}

/** What a call is connected to its agent process with, where it has one. */
function linkServices({
  prepare,
  linkEnded = () => undefined,
  linked,
  routeOf,
  refused = [],
}: OneCallOptions) {
  const openLink =
    prepare &&
    ((admitted: AdmittedStart) => {
      linked?.(admitted);
      return linkOf(prepare, linkEnded, refused);
    });
  return { ...(openLink && { openLink }), ...(routeOf && { routeOf }) };
}

/** The agent of a call, and the others of its tenant. */
function agentsOf(options: OneCallOptions, lent: CallServices): CallRunnerOptions['services'] {
  const { lookUp, agent, vary, others = {} } = options;
  const own: AgentServices = { ...lent, ...linkServices(options), ...(lookUp && { lookUp }), ...agent };
  const varied =
    vary &&
    ((given: Overrides): VariedAgent => {
      const { settings, ...rest } = vary(given);
      return { ...rest, services: { ...own, settings } };
    });
  const services = { ...lent, ...own, ...(varied && { vary: varied }) };
  return withOneAgent(services, (of, name) => {
    const other = Object.hasOwn(others, name) ? others[name] : undefined;
    return other && { services: { ...of.services, agent: name, ...other }, release: () => undefined };
  });
}

function murmuring(lent: CallServices, { murmurs }: OneCallOptions): CallServices {
  if (murmurs === undefined) return lent;
  const { settings, tts } = lent;
  const known = (text: string) => murmurs[text] && { pcm: murmurs[text], ms: murmurs[text].length / 16 };
  return {
    ...lent,
    settings: { ...settings, turn: { ...settings.turn, murmurs: Object.keys(murmurs) } },
    tts: { ...tts, known },
  };
}

export function newWorld() {
  const world = newFakeWorld();
  const inference = newScriptedInference(world.boxes);
  let emptied = 0;
  const host = new CallHost({
    worker: 0,
    boxes: world.boxes,
    clock: world.clock,
    machineMs: () => world.clock.now(),
    isAwaited: () => false,
    onEmpty: () => (emptied += 1),
    onBeat: () => undefined,
  });

  /** A call that is attached, and started unless told otherwise. Everything enters it through its scope, as from sockets. */
  function newCall(options: OneCallOptions = {}) {
    const trap = new Trap();
    const stages = new FakeStages(trap);
    const transport = new FakeTransport(trap);
    const slot = host.freeSlot()!;
    let overs = 0;
    const over = (): void => {
      overs += 1;
      host.remove(slot);
    };
    const { journal, confirmMs, background, metadata = {} } = options;
    const { gridBefore, wakeBy } = host;
    const lent = { ...world.lend(stages), gridBefore, wakeBy };
    const speech = { ...lent.speech, ...(confirmMs !== undefined && { confirmMs }) };
    const services = agentsOf(options, { ...murmuring(lent, options), speech, background });
    const runner: CallRunner = new CallRunner({ services, slot, journal, over });
    host.add(runner, slot);
    runner.attach(transport);
    const enter = (work: () => void): void => runner.scope.run(work);
    const begin = (): void => enter(() => runner.started({ ...start, ...options.start, metadata }));
    if (options.begin !== false) begin();
    return {
      trap,
      stages,
      transport,
      runner,
      slot,
      enter,
      begin,
      overs: () => overs,
      stt: () => stages.stt.at(-1)!,
      llm: () => stages.llm.at(-1)!,
      tts: () => stages.tts.at(-1)!,
      /** Audio of TTS for a context, and its end. */
      say: (context: number, ms: number, end = true): void => {
        stages.tts.at(-1)!.emit({ type: 'audio', context, pcm: new Int16Array(ms * 16).fill(500) });
        if (end) stages.tts.at(-1)!.emit({ type: 'flushed', context });
      },
      /** The caller is heard for so long; VAD says what it is. */
      hear: (ms: number, probability: number): void => {
        for (let at = 0; at < ms; at += 20) {
          enter(() => runner.audio(new Uint8Array(640)));
          world.clock.advance(20);
          inference.beat(world.clock.now());
          inference.judge(slot, () => probability);
          enter(() => runner.collectSpeech());
        }
      },
    };
  }
  const stopTaking = (): void => void (world.takesCalls = false);
  return { ...world, host, inference, newCall, stopTaking, emptied: () => emptied };
}
