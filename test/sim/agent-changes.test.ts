/**
 * Agents that hand a caller to and fro, in any order of what may happen meanwhile: callers who interrupt, tools that answer late, agents that are not there or
 * not ready, workers that die. Whatever happens, each request is for the agent that has the call, with its tools; an effect is had once; and
 * each agent that was asked for enters or is let go.
 */
import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../shared/base/prng.ts';
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallSettings } from '../../worker/core/settings.ts';
import { realCore, type Core } from '../support/core/core.ts';
import { Script } from '../support/core/script.ts';
import { effectTool, newToolBook } from '../support/core/tool-book.ts';

const seeds = 500;
const things = 40;
const names = ['desk', 'billing', 'nurse'] as const;
type Name = (typeof names)[number];

const changing = { ...effectTool, repeatable: true, timeoutMs: 30_000, outlives: true } as const;

function settingsOf(name: Name): Partial<CallSettings> {
  const book = newToolBook({
    endCall: false,
    tools: { transfer_to_agent: changing, [`use_${name}`]: effectTool },
  });
  const tools: CallSettings['tools'] = {
    ...book,
    performerOf: (tool) => (tool === 'transfer_to_agent' ? 'core' : book.performerOf(tool)),
  };
  const context = { desk: 'full', billing: 'summary', nurse: 'none' } as const;
  const greeting = name === 'billing' ? 'Billing here.' : '';
  return { prompt: `You are ${name}.`, greeting, tools, team: { context: context[name], farewell: '' } };
}

/** Follows a call, and finds what must not be. */
class World {
  readonly #random;
  readonly #script: Script;
  #has: Name = 'desk';
  #wanted: { readonly id: string; readonly agent: Name } | undefined;
  #calls = 0;
  readonly #effects = new Set<string>();
  /** Providers that a script leaves silent for too long end a call. */
  #isOver = false;

  constructor(seed: number) {
    this.#random = newPrng(seed);
    const core: Core = {
      ...realCore,
      step: (...given) => {
        const orders = realCore.step(...given);
        for (const order of orders) this.#judge(order);
        return orders;
      },
    };
    const settings = settingsOf('desk');
    this.#script = new Script({ core, settings, ...(this.#random.chance(0.5) && { echoMs: 20 }) }).opens();
  }

  run(): void {
    try {
      for (let count = 0; count < things && !this.#isOver; count += 1) this.#happen();
      if (this.#isOver) return;
      // In the end somebody is there for the caller.
      this.#settle();
      this.#script.later(20_000);
    } catch (error) {
      // A script that goes on behind the end of its call finds nobody.
      if (!this.#isOver) throw error;
    }
  }

  #judge(order: CallAction): void {
    if (order.type === 'told') assert.notEqual(order.event.type, 'rule.broken');
    if (order.type === 'agent.prepare') {
      const isAgain = this.#wanted?.id === order.commandId;
      assert.ok(this.#wanted === undefined || isAgain, 'one agent is asked for at a time');
      this.#wanted = { id: order.commandId, agent: order.agent as Name };
    } else if (order.type === 'agent.enter') {
      assert.equal(this.#wanted?.id, order.commandId, 'who enters was asked for');
      this.#has = this.#wanted?.agent ?? this.#has;
      this.#wanted = undefined;
    } else if (order.type === 'agent.dismiss') this.#wanted = undefined;
    else if (order.type === 'call.end') this.#isOver = true;
    else if (order.type === 'llm.start') {
      assert.equal(order.messages[0]?.text, `You are ${this.#has}.`, 'the agent that has the call is asked');
      const offered = order.tools.map(({ name }) => name).filter((name) => name.startsWith('use_'));
      assert.deepEqual(offered, order.tools.length === 0 ? [] : [`use_${this.#has}`]);
    } else if (order.type === 'tool.run') {
      const isSecond = this.#effects.has(order.idempotencyKey);
      assert.ok(!isSecond, 'an effect is had once');
      this.#effects.add(order.idempotencyKey);
    }
  }

  #happen(): void {
    const script = this.#script;
    const random = this.#random;
    const what = random.below(12);
    if (what < 2) script.callerSays(random.pick(['I have a question.', 'No wait please.']));
    else if (what < 4) script.llmAnswers('Let me see about that.');
    else if (what < 7) this.#callTools();
    else if (what < 9) script.botFinishes();
    else if (what === 9) script.later(random.pick([100, 1_000, 9_000]));
    else if (what === 10) this.#settle();
    else script.workerIsLost();
  }

  #callTools(): void {
    const random = this.#random;
    this.#calls += 1;
    const agent = random.pick(names);
    const transfer = {
      name: 'transfer_to_agent',
      id: `t${this.#calls}`,
      args: { agent, summary: 'It is late.' },
    };
    const use = { name: `use_${this.#has}`, id: `u${this.#calls}`, args: { count: this.#calls } };
    const calls = random.pick([[transfer], [use], [use, transfer], [transfer, use]]);
    if (random.chance(0.5)) this.#script.llmWrites('One moment please.');
    this.#script.llmCalls(...calls);
  }

  /** What others owe is there: results of tools, or the other agent. */
  #settle(): void {
    const script = this.#script;
    for (const tool of script.tools.running) if (tool.startsWith('use_')) script.toolAnswers(tool);
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    if (this.#random.chance(0.8)) script.agentIsReady(settingsOf(wanted.agent));
    else {
      this.#wanted = undefined;
      script.agentIsMissing();
    }
  }
}

describe('agents that hand a caller to and fro', () => {
  it(`keep to the agent that has the call, in ${seeds} seeds`, () => {
    const failed: string[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      try {
        new World(seed).run();
      } catch (error) {
        failed.push(`seed ${seed}: ${String(error)}`);
      }
    }
    expect(failed.slice(0, 3)).toEqual([]);
  });
});
