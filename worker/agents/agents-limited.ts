/** The agents of a worker as one call gets them: before a call begins on an agent whose calls are limited, the supervisor is asked. */
import type { AgentAsked } from '../../shared/agents/messages.ts';
import type { CallAgents, CalledAgent } from '../call/services.ts';
import { releaseOf } from './call-agent.ts';

export interface LimitedAgents extends CallAgents {
  /** Calls of this agent are limited. */
  readonly isLimited: (id: string) => boolean;
}

type Question = Pick<AgentAsked, 'agent' | 'isExpected'>;

export class AgentQuestions {
  readonly #send: (message: AgentAsked) => void;
  readonly #open = new Map<number, (isGranted: boolean) => void>();
  #last = 0;

  constructor(send: (message: AgentAsked) => void) {
    this.#send = send;
  }

  /** What the call of this offer takes its agent from. */
  of(agents: LimitedAgents, offer: number): CallAgents {
    const granted = (
      called: CalledAgent,
      isExpected: boolean,
    ): CalledAgent | Promise<CalledAgent | 'full'> => {
      const { chosen } = called;
      if (chosen === undefined || !agents.isLimited(chosen.id)) return called;
      const { id, hash } = chosen;
      const asked = this.#ask(offer, { agent: { id, hash }, isExpected });
      return asked.then((isGranted) => {
        if (!isGranted) releaseOf(called);
        return isGranted ? called : 'full';
      });
    };
    return {
      again: (kept) => agents.again(kept),
      of: (start, kept) => {
        const found = agents.of(start, kept);
        // It has its place since it began.
        if (found === 'unknown' || kept !== undefined) return found;
        return then(found, (called) => granted(called, called.chosen?.isExpected === true));
      },
      other: (of, name) => {
        const found = agents.other(of, name);
        if (found === 'same' || found === undefined) return found;
        return then(found, (called) => granted(called, false));
      },
    };
  }

  answered(ask: number, isGranted: boolean): void {
    this.#open.get(ask)?.(isGranted);
    this.#open.delete(ask);
  }

  #ask(offer: number, question: Question): Promise<boolean> {
    this.#last += 1;
    const ask = this.#last;
    return new Promise((resolve) => {
      this.#open.set(ask, resolve);
      this.#send({ type: 'agent.asked', ask, offer, ...question });
    });
  }
}

type Found = CalledAgent | Promise<CalledAgent | 'full'>;

const then = (found: Found, next: (called: CalledAgent) => Found): Found =>
  found instanceof Promise
    ? found.then((called) => (called === 'full' ? called : next(called)))
    : next(found);
