/** Makes what a call consists of once it is known what the call is to be. */
import { present } from '../../shared/base/present.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { CallAccount } from './account.ts';
import type { AdmittedStart } from './admission.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { CallLink } from '../agent-link/contract.ts';
import type { LlmCall } from '../stages/stage.ts';
import type { CallCommand } from '../core/commands.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallSettings, ToolBook } from '../core/settings.ts';
import type { CallState } from '../core/state.ts';
import { silentSince } from '../core/answer/silence.ts';
import { messagesFor, offeredTools } from '../core/delivery/context.ts';
import { lawOf, type CallTransport } from '../transports/transport.ts';
import { CallAudio } from './audio.ts';
import type { CallJournal } from './journal.ts';
import { CallLog } from './log.ts';
import { CallObservers, type ObservedCall } from './observer.ts';
import type { CallSetup } from './opening.ts';
import type { RunningCall } from './running-call.ts';
import type { CallServices } from './services.ts';
import type { OpenedTools } from '../tools/registry.ts';
import { CallStages, stageContext } from './stages.ts';
import { CallToolRuns } from './tool-runs.ts';
import { traceparentOfTools } from './trace.ts';
import { variablesOf, withVariables } from './variables.ts';
import { CallControl, capabilitiesOf, controlTools, transferSettings } from '../telephony/call-control.ts';
import { carriedContext } from '../telephony/carried.ts';

export interface CallBuild {
  readonly services: CallServices;
  readonly scope: Scope;
  readonly log: Log;
  /** The call's mailbox. */
  readonly slot: number;
  readonly journal: CallJournal | undefined;
  readonly start: AdmittedStart;
  readonly transport: CallTransport;
  readonly link: CallLink | undefined;
  /** The version of its agent; absent in a service of one. */
  readonly agent: AgentRef | undefined;
  /** Present where a record of the call is kept. */
  readonly account: CallAccount | undefined;
  readonly setup: CallSetup;
  readonly state: (settings: CallSettings) => CallState;
  readonly startedAt: Millis;
  /** Another worker had the call before. */
  readonly isResumed: boolean;
  /** Turns that were answered before. */
  readonly turns: number;
  readonly tell: (event: CallEvent) => void;
  /** The audio of the call, once it is there. */
  readonly audio: () => CallAudio | undefined;
}

/** What a call has of its agent before anything is opened. */
export interface EquippedCall {
  readonly opened: ReturnType<CallServices['openTools']>;
  readonly settings: CallSettings;
}

type Equipping = Pick<CallBuild, 'services' | 'scope' | 'start' | 'setup' | 'link' | 'transport'>;

/** The tools of a call and its settings, with its variables filled in. @throws what opening the tools throws. */
export function equipCall(equipping: Equipping): EquippedCall {
  const { services, scope, start, setup, link, transport } = equipping;
  const { clock } = services;
  const { remoteTools, variables } = setup;
  const metadata = variablesOf(start, services, variables);
  const remote =
    remoteTools === undefined || link === undefined ? undefined : { tools: remoteTools, runner: link };
  const capabilities = capabilitiesOf(start, services.carriers.capabilities);
  const opened = services.openTools(stageContext({ clock, scope }), {
    metadata,
    remote,
    control: controlTools(capabilities, transport.sendKeys !== undefined),
  });
  return { opened, settings: settingsOf(equipping, opened.book) };
}

/** The settings of a call that has these tools. */
function settingsOf(
  { services, start, setup }: Pick<Equipping, 'services' | 'start' | 'setup'>,
  tools: ToolBook,
): CallSettings {
  // The terms of the link are the link's own, and what the call has otherwise is in its services.
  const {
    remoteTools: _tools,
    variables,
    link: _link,
    message: _m,
    model: _model,
    recordId: _id,
    overrides: _o,
    ...given
  } = setup;
  const capabilities = capabilitiesOf(start, services.carriers.capabilities);
  // Texts of an agent process are taken word for word.
  return {
    ...withVariables(services.settings, variablesOf(start, services, variables)),
    ...transferSettings(capabilities, services.carriers.telephony),
    ...given,
    tools,
  };
}

/** @throws what building a part throws; nothing of the call is left then. */
export function buildCall(build: CallBuild): RunningCall {
  const { services, start, setup, link, tell, startedAt } = build;
  const { clock } = services;
  const { opened, settings } = equipCall(build);
  link?.equipped({
    refused: opened.tools.refused.map(({ name, rule }) => `${name} ${rule}`),
    isTool: (name) => opened.book.ruleOf(name) !== undefined,
  });
  const tools = new CallToolRuns(opened.tools, tell, traceparentOfTools(services.traceOf?.(start)));
  const observers = newObservers(build);
  const whole = { ...settings, tools: observers.watchTools(opened.book) };
  const state = build.state(whole);
  const log = newCallLog(build);
  let control = newControl(build, state);
  // Another agent has nothing that was said of the call for the one before, but for its variables.
  let current: { readonly setup: CallSetup; readonly tools: OpenedTools } = { setup, tools: opened.tools };
  const stages = openStages(build, {
    llmCall: llmCallOf(start.callId, setup.model, state),
    callLog: log,
  });
  try {
    const audio = newAudio(build, stages, state);
    observers.begins({ settings: whole, state, tap: audio.tap, person: audio.person, now: clock.now() });
    return {
      start,
      stages,
      audio,
      tools,
      get control() {
        return control;
      },
      state,
      log,
      observers,
      startedAt,
      get turns() {
        return log.turns;
      },
      get link() {
        return link?.save();
      },
      change: (services) => {
        const { setup: given, tools: having } = current;
        const llmCall = llmCallOf(start.callId, given.model, state);
        const { isHeardAnew } = stages.change({ ...services, llmCall });
        audio.retune(services);
        const book = services.bookOf?.(having);
        const known = book === undefined ? state.setup.settings.tools : observers.watchTools(book);
        const settings = settingsOf({ services, start, setup: given }, known);
        return { type: 'node.equipped', settings, isHeardAnew };
      },
      adopt: (agent) => {
        stages.adopt({ ...agent.services, llmCall: llmCallOf(start.callId, undefined, state) });
        tools.adopt(agent.tools);
        current = { setup: present({ variables: setup.variables }), tools: agent.tools };
        audio.retune(agent.services);
        control = newControl({ ...build, services: agent.services, agent: agent.ref }, state);
      },
    };
  } catch (error) {
    stages.close();
    throw error;
  }
}

const newCallLog = ({
  log,
  services: { metrics, agent, agentLabel = () => agent, clock },
  turns,
  start: { route },
}: CallBuild): CallLog =>
  new CallLog({ log, metrics, turns, agent: agentLabel, route, now: () => clock.now() });

const llmCallOf = (conversation: string, model: string | undefined, state: CallState): LlmCall => ({
  conversation,
  ...(model !== undefined && { model }),
  expects: () => ({
    messages: messagesFor(state, state.conversation.history),
    tools: offeredTools(state),
  }),
});

function newControl(
  { services, scope, start, tell, agent, transport, log }: CallBuild,
  state: CallState,
): CallControl {
  return new CallControl(services.carriers, start, {
    clock: services.clock,
    log,
    tell,
    agent,
    context: () => carriedContext(state),
    sendKeys: transport.sendKeys?.bind(transport),
    bind: (callback) => scope.bind(callback),
  });
}

function newAudio(
  { services, slot, start, transport, tell, journal }: CallBuild,
  stages: CallStages,
  state: CallState,
): CallAudio {
  const waitsSince = (): Millis | undefined => silentSince(state);
  return new CallAudio({ services, slot, start, transport, stages, tell, journal, waitsSince });
}

function newObservers(build: CallBuild): CallObservers {
  const { services, scope, start, slot, startedAt, isResumed, log, tell, audio } = build;
  const command = scope.bind((given: CallCommand) =>
    tell({ type: 'command.given', command: given, position: audio()?.position }),
  );
  const { clock } = services;
  const observed: ObservedCall = {
    start,
    slot,
    startedAt,
    isResumed,
    log,
    command,
    openStt: (sink) => (services.operatorStt ?? services.stt).open(stageContext({ clock, scope }), sink),
    monitored: (use) => observers.monitored(use, clock.now()),
  };
  const following = services.observe?.(observed) ?? [];
  const observers = new CallObservers(
    build.account === undefined ? following : [build.account, ...following],
    log,
  );
  return observers;
}

function openStages(
  { services, scope, start, transport, tell, audio }: CallBuild,
  { llmCall, callLog }: { readonly llmCall: LlmCall; readonly callLog: CallLog },
): CallStages {
  return new CallStages({
    clock: services.clock,
    scope,
    law: lawOf(start, transport),
    llmCall,
    stt: services.stt,
    llm: services.llm,
    tts: services.tts,
    tell,
    onTts: (event) => audio()?.onTts(event),
    onWords: () => audio()?.heardWords(),
    position: () => audio()?.position,
    onFailure: (stage, cause) => callLog.stageFailed(stage, cause),
  });
}
