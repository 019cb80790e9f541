/**
 * Watches a simulated call. It sees facts and orders and asks the client what was played; it never reads the state of the
 * core. A fault is a violation with the rule that it breaks.
 */
import type { Prng } from '../../../shared/base/prng.ts';
import type { Order } from '../../support/core/order.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import { AirJudge } from './air-judge.ts';
import { ContextJudge } from './context-judge.ts';
import { LineJudge } from './line-judge.ts';
import { ResponseJudge } from './response-judge.ts';
import type { Note } from '../world/sim-world.ts';
import { StageJudge } from './stage-judge.ts';
import { Story, type Scene, type Violation, type Witnesses } from '../story.ts';
import { TurnJudge } from './turn-judge.ts';

export type { Violation } from '../story.ts';

const maxActions = 60;
const overtimeMs = 30_000;

export class Judge {
  readonly #story: Story;
  readonly #turns: TurnJudge;
  readonly #responses: ResponseJudge;
  readonly #air: AirJudge;
  readonly #lines: LineJudge;
  readonly #stages: StageJudge;
  #deadlinesAtOnce = 0;
  /** Questions to a silent caller since the caller last said something. */
  #questions = { users: 0, asked: 0 };

  constructor(witnesses: Witnesses) {
    this.#story = new Story(witnesses);
    this.#turns = new TurnJudge(this.#story);
    this.#air = new AirJudge(this.#story);
    this.#lines = new LineJudge(this.#story);
    this.#stages = new StageJudge(this.#story);
    this.#responses = new ResponseJudge(this.#story, {
      context: new ContextJudge(this.#story),
      lines: this.#lines,
      turns: this.#turns,
    });
  }

  demand(now: number, holds: boolean, rule: string): void {
    this.#story.demand(now, holds, rule);
  }

  get violations(): readonly Violation[] {
    return this.#story.violations;
  }

  anyFinishedRound(prng: Prng): number | undefined {
    const { finishedRounds } = this.#story;
    return finishedRounds.length === 0 ? undefined : prng.pick(finishedRounds);
  }

  anyClosedContext(prng: Prng): number | undefined {
    const { closedContexts } = this.#story;
    return closedContexts.length === 0 ? undefined : prng.pick(closedContexts);
  }

  impossible(now: number, rule: string): void {
    this.#story.fail(now, rule);
  }

  tick(now: number): void {
    this.#story.checkTimers(now);
    this.#air.tick(now);
  }

  /** A frame went out. */
  frame(now: number): void {
    this.#story.lastFrameAt = now;
    this.#air.frame(now);
  }

  saw(
    fact: { event: CallEvent; note: Note },
    after: { actions: readonly Order[]; now: number; deadline: number | undefined },
  ): void {
    const { event, note } = fact;
    const { actions, now, deadline } = after;
    const story = this.#story;
    if (story.over || note.stale === true) {
      const orders = actions.filter(({ type }) => type !== 'command.answered' || !story.over);
      story.demand(now, orders.length === 0, story.over ? 'orders after the end' : 'a stale result counts');
      if (story.over) story.demand(now, deadline === undefined, 'a deadline after the end');
      return;
    }
    const scene: Scene = {
      now,
      event,
      note,
      actions,
      has: (type) => actions.some((action) => action.type === type),
    };
    story.decided = undefined;
    this.#bounds(scene, deadline);
    this.#callEvents(scene);
    this.#lines.facts(scene);
    this.#turns.facts(scene);
    this.#responses.facts(scene);
    this.#turns.moves(scene);
    this.#responses.ends(scene);
    this.#responses.orders(scene);
    this.#turns.after(scene);
    this.#stages.after(scene);
    this.#lines.after(scene);
    this.#air.after(scene);
    this.#idle(scene);
    if (story.over) story.demand(now, deadline === undefined, 'a deadline after the end');
  }

  #bounds({ now, event, actions }: Scene, deadline: number | undefined): void {
    const story = this.#story;
    story.demand(now, actions.length <= maxActions, 'too many orders in one step');
    const ends = event.type === 'call.closed' || actions.some(({ type }) => type === 'call.end');
    if (!ends) story.demand(now, deadline !== undefined, 'an open call waits for nothing');
    const again = !ends && event.type === 'deadline.reached' && deadline !== undefined && deadline <= now;
    this.#deadlinesAtOnce = again ? this.#deadlinesAtOnce + 1 : 0;
    story.demand(now, this.#deadlinesAtOnce < 3, 'deadlines follow one another without end');
  }

  #callEvents(scene: Scene): void {
    const { now, event, actions } = scene;
    const story = this.#story;
    const { settings } = story;
    if (event.type === 'call.opened') {
      story.openedAt = now;
      story.await('overtime', now + settings.maxCallMs + overtimeMs, 'a call has no end');
      story.demand(now, settings.greeting === '' || scene.has('tts.speak'), 'no greeting');
    } else if (event.type === 'call.closed') {
      // Tools that run are told, and whoever waits for an answer; nothing else can be done.
      const tellsTools = actions.every(({ type }) => type === 'tool.abandon' || type === 'command.answered');
      story.demand(now, tellsTools, 'orders for a call that is gone');
      story.over = true;
    } else if (event.type === 'call.shutdown') {
      story.demand(now, scene.has('call.end'), 'a shutdown is ignored');
    }
    if (story.openedAt !== undefined && now >= story.openedAt + settings.maxCallMs) story.overtime = true;
  }

  /** When nobody speaks, somebody must, in the end. */
  #idle({ now, event, actions }: Scene): void {
    const story = this.#story;
    if (story.users.length !== this.#questions.users)
      this.#questions = { users: story.users.length, asked: 0 };
    const { ask, endAfter } = story.settings.idle;
    const asks = actions.some((action) => action.type === 'tts.speak' && action.text === ask);
    const again = actions.some(({ type }) => type === 'tts.reopen');
    const begins = event.type === 'deadline.reached' && story.decided === undefined;
    if (asks && begins && !again) this.#questions.asked += 1;
    story.demand(now, this.#questions.asked <= endAfter, 'a silent caller is asked for ever');
    const { askAfterMs } = story.settings.idle;
    const quiet = story.mouth === 'none' && story.response === undefined && !story.over;
    if (!quiet) story.done('idle');
    else if (askAfterMs > 0 && (!story.awaits('idle') || event.type === 'dtmf.pressed'))
      story.await('idle', now + askAfterMs, 'nobody asks a silent caller');
  }
}
