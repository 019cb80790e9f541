/**
 * The agents that a call has after one another. One more is made ready when the core asks for it, and has the call when the core says so; those
 * before it are kept to the end of the call, because what their tools have begun goes on.
 */
import { assert } from '../../shared/base/assert.ts';
import { present } from '../../shared/base/present.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { ChosenAgent } from '../../shared/agents/choose.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import { CallAgent, releaseOf } from '../agents/call-agent.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallTransport } from '../transports/transport.ts';
import { equipCall, type EquippedCall } from './build-call.ts';
import type { CallSetup } from './opening.ts';
import type { RunningCall } from './running-call.ts';
import type { CalledAgent, CallServices, WorkerServices } from './services.ts';

type Change = Extract<CallAction, { type: `agent.${string}` | 'node.equip' }>;
type Prepare = Extract<Change, { type: 'agent.prepare' }>;

export interface AgentsOfCallSite {
  readonly worker: WorkerServices;
  readonly scope: Scope;
  readonly isOver: () => boolean;
  readonly log: () => Log;
  /** The call has this agent, in a service of many. */
  readonly chose: ((agent: ChosenAgent) => void) | undefined;
  /** What runs by the time that another agent is asked for, and what it is made with. */
  readonly call: () => RunningCall | undefined;
  readonly transport: () => CallTransport | undefined;
  readonly setup: () => CallSetup;
  readonly tell: (event: CallEvent) => void;
  /** Another agent has the running call. */
  readonly entered: () => void;
  /** Another voice has it, whose lines are to be told. */
  readonly relined: () => void;
}

export class AgentsOfCall {
  readonly #site: AgentsOfCallSite;
  #current: CallAgent | undefined;
  readonly #former: CallAgent[] = [];
  /** The newest that was asked for. */
  #wanted: string | undefined;
  #ready: { readonly agent: CallAgent; readonly equipped: EquippedCall } | undefined;

  constructor(site: AgentsOfCallSite) {
    this.#site = site;
  }

  get current(): CallAgent {
    assert(this.#current !== undefined, 'a call has its agent from its start on');
    return this.#current;
  }

  /** The version of the present one; undefined in a service of one, and before there is one. */
  get ref(): AgentRef | undefined {
    return this.#current?.ref;
  }

  /** The call has this agent, and none that it had before it began. */
  take(called: CalledAgent): CallServices {
    this.#current?.release();
    this.#enter(new CallAgent(this.#site.worker, called));
    return this.current.services;
  }

  perform(order: Change): void {
    switch (order.type) {
      case 'agent.prepare':
        this.#prepare(order);
        return;
      case 'agent.enter':
        this.#takeOver();
        return;
      case 'agent.dismiss':
        this.#dismiss();
        return;
      case 'node.equip':
        this.#enterNode(order.node);
    }
  }

  /** The call is over. */
  release(): void {
    this.#dismiss();
    for (const agent of [...this.#former, this.#current]) agent?.release();
  }

  #enter(agent: CallAgent): void {
    this.#current = agent;
    const { chosen } = agent.called;
    if (chosen !== undefined) this.#site.chose?.(chosen);
  }

  #dismiss(): void {
    this.#wanted = undefined;
    this.#ready?.equipped.opened.tools.close();
    if (this.#ready !== undefined) this.#giveUp(this.#ready.agent);
    this.#ready = undefined;
  }

  /** It does not get the call, in whose name it has a place among the agent's calls by now. */
  #giveUp(agent: CallAgent): void {
    agent.release();
    const chosen = this.#current?.called.chosen;
    if (chosen !== undefined) this.#site.chose?.(chosen);
  }

  #prepare(order: Prepare): void {
    const { worker, scope, isOver } = this.#site;
    this.#dismiss();
    this.#wanted = order.commandId;
    const other = worker.agents.other(this.current.called, order.agent);
    if (other === undefined) this.#missing(order);
    else if (other === 'same') this.#prepared(order, worker.agents.again(this.ref));
    else if (!(other instanceof Promise)) this.#prepared(order, other);
    else {
      const prepared = scope.bind((called: CalledAgent | 'full') => this.#prepared(order, called));
      other.then(
        // The scope of a call that is over runs nothing.
        (called) => (isOver() ? releaseOf(called) : prepared(called)),
        scope.bind(() => this.#missing(order)),
      );
    }
  }

  #prepared(order: Prepare, called: CalledAgent | 'full'): void {
    const { worker, tell, log: callLog } = this.#site;
    const { commandId, agent: name } = order;
    const log = callLog();
    if (called === 'full') {
      log.warn({ to: name }, 'a call is not handed over: the agent has as many calls as it may have');
      tell({ type: 'agent.missing', commandId });
      return;
    }
    const agent = new CallAgent(worker, called);
    agent.begin(log);
    if (this.#wanted !== commandId) {
      this.#giveUp(agent);
      return;
    }
    try {
      const equipped = this.#equip(agent);
      this.#ready = { agent, equipped };
      tell({ type: 'agent.prepared', commandId, agent: name, settings: equipped.settings });
    } catch (error) {
      log.error({ to: name, ...errorFields(error) }, 'another agent could not be given the call');
      this.#giveUp(agent);
      this.#missing(order);
    }
  }

  #missing({ commandId, agent }: Prepare): void {
    const log = this.#site.log();
    log.warn({ to: agent }, 'a call is not handed over: its tenant has no such agent');
    this.#site.tell({ type: 'agent.missing', commandId });
  }

  /** What the call would have of another agent: nothing that was said of it for the one before, but for its variables. */
  #equip({ services }: CallAgent): EquippedCall {
    const { scope, call: running, transport: line, setup } = this.#site;
    const [call, transport] = [running(), line()];
    assert(call !== undefined && transport !== undefined, 'a call that runs is handed over');
    const { start, observers } = call;
    const given = present({ variables: setup().variables });
    const equipped = equipCall({ services, scope, start, setup: given, link: undefined, transport });
    const tools = observers.watchTools(equipped.opened.book);
    return { ...equipped, settings: { ...equipped.settings, tools } };
  }

  #enterNode(node: string): void {
    const { call: running, log, tell } = this.#site;
    const call = running();
    assert(call !== undefined, 'a flow moves in a call that runs');
    const left = this.current.enter(node, log());
    tell(call.change(this.current.services));
    left();
    this.#site.relined();
  }

  #takeOver(): void {
    const ready = this.#ready;
    const call = this.#site.call();
    this.#ready = undefined;
    assert(ready !== undefined && call !== undefined, 'what enters is ready');
    const { agent, equipped } = ready;
    call.adopt({ services: agent.services, ref: agent.ref, tools: equipped.opened.tools });
    this.#former.push(this.current);
    this.#enter(agent);
    this.#site.entered();
  }
}

/** The fields of the log that tell how the call came to its agent: none in a service of one agent. */
export function chosenFields(chosen: ChosenAgent | undefined): Readonly<Record<string, string>> {
  if (chosen === undefined) return {};
  const { hash, by, insteadOf } = chosen;
  return { agentBy: by, agentVersion: hash, ...(insteadOf !== undefined && { insteadOf }) };
}
