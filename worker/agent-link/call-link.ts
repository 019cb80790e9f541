/**
 * The agent link of one call at work: performs the actions of the machine, and is what the rest of the call sees of it. It owns no timer:
 * the call's housekeeping says when time has passed. Everything of it runs in the scope of the call.
 */
import { unreachable } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import { lineOf } from '../../shared/agent-link/fields.ts';
import type { ReadAccept } from '../../shared/agent-link/handshake.ts';
import type { LinkToolDeclaration } from '../../shared/agent-link/agent-messages.ts';
import type { SessionEndReason } from '../../shared/agent-link/events.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import type { CallSetup } from '../call/opening.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { StageContext } from '../stages/stage.ts';
import type { MessageToAgent } from '../../shared/protocol/beside-the-call.ts';
import { refuseRun } from '../tools/tool.ts';
import type { RemoteTool, ToolReport, ToolRun, ToolRunRequest } from '../tools/tool.ts';
import type { AgentSocket, Dial } from './agent-socket.ts';
import type { CallLink, CallLinkSite } from './contract.ts';
import { stepLink } from './link.ts';
import {
  saveLink,
  type LinkInput,
  type LinkNews,
  type LinkAction,
  type LinkState,
  type SavedLink,
} from './link-state.ts';

export interface CallLinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<WorkerMetrics, 'agentHop' | 'agentLinks' | 'agentWrite'>;
  readonly dial: Dial;
  readonly site: CallLinkSite;
  readonly state: LinkState;
}

type Settled = Extract<LinkAction, { type: 'tool.settled' }>;

export class AgentCallLink implements CallLink {
  readonly #options: CallLinkOptions;
  readonly #state: LinkState;
  #socket: AgentSocket | undefined;
  #prepared: ((setup: CallSetup) => void) | undefined;
  /** What the agent sent between its answer and the call that is made of it: a command may stand right behind the accept. */
  #held: LinkInput[] | undefined;
  readonly #sinks = new Map<number, (report: ToolReport) => void>();
  /** Outcomes that came of an order to run, which is never answered from inside. */
  #early: Settled | undefined;
  #isStarting = false;
  #isClientHeard = false;
  /** When the event came that is being told. */
  #eventAt: Millis | undefined;

  constructor(options: CallLinkOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  prepare(): Promise<CallSetup> {
    const prepared = new Promise<CallSetup>((resolve) => {
      this.#prepared = (setup) => {
        this.#held = [];
        resolve(setup);
      };
    });
    this.#step({ type: 'call.began' });
    return prepared;
  }

  #letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const input of held) this.#step(input);
  }

  follow(event: ConversationEvent): void {
    this.#eventAt = this.#options.clock.now();
    this.#step({ type: 'told', event });
    this.#eventAt = undefined;
  }

  clientSaid(message: MessageToAgent): boolean {
    this.#isClientHeard = false;
    this.#step({ type: 'client.said', message });
    return this.#isClientHeard;
  }

  equipped(tools: { readonly refused: readonly string[]; readonly isTool: (name: string) => boolean }): void {
    this.#step({ type: 'tools.known', ...tools });
    // The call that is being made is there by then.
    void Promise.resolve().then(this.#options.site.bind(() => this.#letGo()));
  }

  refused(rules: readonly string[]): void {
    this.#step({ type: 'parts.refused', rules });
  }

  tick(): void {
    this.#step({ type: 'time.passed' });
  }

  ended(reason: SessionEndReason): void {
    this.#step({ type: 'call.ended', reason });
    this.#sinks.clear();
  }

  save(): SavedLink {
    return saveLink(this.#state);
  }

  // ---- tools ----

  run(context: StageContext, request: ToolRunRequest, sink: (report: ToolReport) => void): ToolRun {
    const id = this.#state.nextCall;
    const deliver = context.bind(sink);
    this.#sinks.set(id, deliver);
    this.#isStarting = true;
    this.#step({
      type: 'tool.run',
      call: {
        call_id: request.id,
        name: request.name,
        arguments: request.arguments,
        kind: request.kind,
        epoch: request.epoch,
        idempotency_key: request.idempotencyKey,
        timeout_ms: Math.max(1, Math.round(request.timeoutMs)),
      },
    });
    this.#isStarting = false;
    const early = this.#takeEarly();
    if (early !== undefined) return refuseRun(context, early.outcome, sink);
    return {
      cancel: (reason) => {
        this.#sinks.delete(id);
        this.#step({ type: 'tool.abandoned', id, reason });
      },
    };
  }

  #takeEarly(): Settled | undefined {
    const early = this.#early;
    this.#early = undefined;
    return early;
  }

  // ---- the machine ----

  #step(input: LinkInput): void {
    const now = this.#options.clock.now();
    const bufferedBytes = this.#socket?.bufferedBytes ?? 0;
    for (const action of stepLink(this.#state, input, { now, bufferedBytes })) this.#perform(action);
  }

  #perform(action: LinkAction): void {
    switch (action.type) {
      case 'connect':
        this.#connect();
        return;
      case 'send':
        this.#send(action.text);
        return;
      case 'ping':
        this.#socket?.ping();
        return;
      case 'pong':
        this.#socket?.pong(action.data);
        return;
      case 'read':
        this.#socket?.read(action.isOn);
        return;
      case 'close':
        this.#socket?.close(action.code, action.reason);
        this.#socket = undefined;
        return;
      case 'call.prepared':
        this.#prepared?.(setupOf(action.accept));
        this.#prepared = undefined;
        return;
      case 'command':
        this.#options.site.command(action.id, action.command);
        return;
      case 'client.heard':
        this.#isClientHeard = true;
        return;
      case 'client.send':
        this.#options.site.client?.sendMessage?.(action.message);
        return;
      case 'tool.settled':
        this.#settle(action);
        return;
      case 'hop':
        this.#options.metrics.agentHop.observe(action.ms / 1000);
        return;
      case 'news':
        this.#tellNews(action);
        return;
      case 'reason':
        this.#options.log.info({ reason: lineOf(action.reason, 512) }, reasonTexts[action.command]);
        return;
      default:
        unreachable(action);
    }
  }

  #send(text: string): void {
    const [since, { clock, metrics }] = [this.#eventAt, this.#options];
    const written = (): void => metrics.agentWrite.observe((clock.now() - (since ?? 0)) / 1000);
    this.#socket?.send(text, since === undefined ? undefined : written);
  }

  #connect(): void {
    const { clock, dial, site } = this.#options;
    const ifPresent = (input: LinkInput): void => {
      if (this.#socket !== socket) return;
      if (this.#held === undefined) this.#step(input);
      else this.#held.push(input);
    };
    const on = site.bind(ifPresent);
    const socket: AgentSocket = dial(clock, {
      opened: () => on({ type: 'socket.opened' }),
      text: (text) => on({ type: 'text.received', text }),
      binary: () => on({ type: 'binary.received' }),
      ping: (data) => on({ type: 'ping.received', data }),
      pong: () => on({ type: 'pong.received' }),
      closed: (why) => on({ type: 'socket.closed', why }),
    });
    this.#socket = socket;
  }

  #settle(settled: Settled): void {
    const sink = this.#sinks.get(settled.id);
    this.#sinks.delete(settled.id);
    if (this.#isStarting) this.#early = settled;
    else sink?.(settled.outcome);
  }

  #tellNews({ news, why }: Extract<LinkAction, { type: 'news' }>): void {
    const { log, metrics } = this.#options;
    metrics.agentLinks.inc({ what: news });
    if (news === 'active' || news === 'resumed') log.debug(newsTexts[news]);
    else log.warn({ why }, newsTexts[news]);
  }
}

/** What the log says. */
const newsTexts: Readonly<Record<LinkNews, string>> = {
  active: 'the agent process has accepted the call',
  resumed: 'the agent process is back',
  fallback: 'the agent process does not take the call: it starts by the agent file alone',
  broken: 'the agent process is lost: the service connects again',
  gone: 'the agent process is lost: the call goes on by itself',
  slowed: 'the agent process sends too much: it is read more slowly',
};

const reasonTexts = {
  end: 'the agent process ends the call',
  transfer: 'the agent process transfers the call',
} as const;

/** What the call is made with; nothing beside its agent's definition where no agent took it. */
function setupOf(accept: ReadAccept | undefined): CallSetup {
  if (accept === undefined) return {};
  const { systemPrompt, greeting, context, tools, overrides, resume, events } = accept;
  return {
    ...(systemPrompt !== undefined && { prompt: systemPrompt }),
    ...(greeting !== undefined && { greeting }),
    ...(overrides !== undefined && { overrides }),
    ...(context.length > 0 && { context }),
    ...(tools.length > 0 && { remoteTools: tools.map(remoteTool) }),
    link: { resume, ...(events !== undefined && { events }) },
  };
}

const remoteTool = (tool: LinkToolDeclaration): RemoteTool => ({
  name: tool.name,
  description: tool.description,
  parameters: tool.parameters,
  rule: {
    kind: tool.kind,
    timeoutMs: tool.timeout_ms,
    fillerAfterMs: tool.filler_after_ms,
    confirm: tool.confirm,
    repeatable: tool.repeatable,
  },
});
