/**
 * What a call is to be: the operator's server is asked first (docs/before-call.md), then the agent process of the agent that has the call by
 * then. A caller who hangs up meanwhile is asked about no further.
 */
import type { Overrides } from '../../../shared/agents/overrides.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { LookedUp } from '../../agents/look-up.ts';
import { releaseOf } from '../../agents/call-agent.ts';
import { admitCall, type AdmittedStart } from '../admission.ts';
import type { CallSetup } from '../opening.ts';
import type { CalledAgent, CallServices, WorkerServices } from '../services.ts';

export interface PreparationSite {
  readonly agents: WorkerServices['agents'];
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  readonly isOver: () => boolean;
  readonly log: () => Log;
  /** The agent that has the call, and what the call runs on. */
  readonly called: () => CalledAgent;
  readonly services: () => CallServices;
  /** The call has another agent from here on, which its log and its record tell. */
  readonly hand: (other: CalledAgent) => CallServices;
  readonly handed: (start: AdmittedStart) => void;
  /** The call has something otherwise than its agent: as was signed, or as the server says. */
  readonly varyAsSigned: (start: AdmittedStart) => void;
  readonly vary: (given: Overrides) => void;
  readonly askProcess: (start: AdmittedStart) => CallSetup | Promise<CallSetup>;
  readonly refuse: (why: 'server_busy' | 'unsigned_route') => void;
}

type Prepared = CallSetup | Promise<CallSetup>;

export class Preparation {
  readonly #site: PreparationSite;
  /** What the server said of the call, and its start where that gave it to another agent. */
  given: CallSetup = {};
  handed: AdmittedStart | undefined;

  constructor(site: PreparationSite) {
    this.#site = site;
  }

  prepare(start: AdmittedStart): Prepared {
    const { services, bind, askProcess } = this.#site;
    const { lookUp } = services();
    if (lookUp === undefined) return askProcess(start);
    return new Promise((resolve, reject) => {
      const answered = bind((found: LookedUp) => resolve(this.#lookedUp(start, found)));
      lookUp(start).then(answered, reject);
    });
  }

  #lookedUp(start: AdmittedStart, found: LookedUp): Prepared {
    const { isOver, askProcess, refuse } = this.#site;
    if (isOver()) return {};
    if (found.kind === 'answered') return this.#answered(start, found.answer);
    if (!found.refuse) return askProcess(start);
    refuse('server_busy');
    return {};
  }

  #answered(
    start: AdmittedStart,
    { agent, variables, overrides = {}, problems }: Extract<LookedUp, { kind: 'answered' }>['answer'],
  ): Prepared {
    const { agents, called, vary, askProcess } = this.#site;
    const log = this.#site.log();
    const other = agent === undefined ? 'same' : agents.other(called(), agent);
    const wrong = [...problems, ...(other === undefined ? ['agent names none of the tenant'] : [])];
    if (wrong.length > 0) log.warn({ problems: wrong }, 'the answer before a call is wrong in part');
    log.info({ variables: Object.keys(variables) }, 'the server before calls has answered');
    if (Object.keys(variables).length > 0) this.given = { variables };
    const goOn = (routed: AdmittedStart | undefined): Prepared => {
      if (routed === undefined) return {};
      vary(overrides);
      return askProcess(routed);
    };
    if (other === undefined || other === 'same') return goOn(start);
    if (!(other instanceof Promise)) return goOn(this.#hand(start, other));
    return this.#later(other, (one) => goOn(this.#hand(start, one)));
  }

  #later(other: Promise<CalledAgent | 'full'>, goOn: (one: CalledAgent) => Prepared): Promise<CallSetup> {
    const { isOver, bind, refuse } = this.#site;
    return new Promise((resolve, reject) => {
      const equipped = bind((one: CalledAgent | 'full') => {
        if (one === 'full') refuse('server_busy');
        resolve(one === 'full' ? {} : goOn(one));
      });
      // The scope of a call that is over runs nothing.
      other.then((one) => (isOver() ? releaseOf(one) : equipped(one)), reject);
    });
  }

  /** The call goes on with another agent of its tenant, whose routes are its own; undefined where they refuse it. */
  #hand(start: AdmittedStart, other: CalledAgent): AdmittedStart | undefined {
    const { hand, handed: tell, varyAsSigned, refuse, log } = this.#site;
    const { route: _, ...rest } = start;
    const routed = admitCall(rest, hand(other));
    if (routed === undefined) {
      refuse('unsigned_route');
      return undefined;
    }
    const handed = { ...routed, sessionId: start.sessionId, at: start.at };
    this.handed = handed;
    tell(handed);
    log().info('the server before calls gives the call to this agent');
    varyAsSigned(handed);
    return handed;
  }
}
