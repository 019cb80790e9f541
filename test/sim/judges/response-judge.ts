/** Judges the agent's side: one response at a time, in its epoch, saying what was written, ended by what must end it. */
import { spokenIn, type Order } from '../../support/core/order.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import { noteAnnouncement } from '../world/announced.ts';
import { goesOn, isPart, plainWords, type ContextJudge } from './context-judge.ts';
import { markPlayed, markSent } from '../world/echoes.ts';
import type { LineJudge } from './line-judge.ts';
import { newStoryResponse } from '../story-response.ts';
import {
  flat,
  withoutBegun,
  withoutRest,
  isLine,
  isRound,
  type Scene,
  type Story,
  type StoryResponse,
} from '../story.ts';
import type { TurnJudge } from './turn-judge.ts';

const unconfirmedMs = 500;

export interface ResponseJudgeOptions {
  readonly context: ContextJudge;
  readonly lines: LineJudge;
  readonly turns: TurnJudge;
}

export class ResponseJudge {
  readonly #story: Story;
  readonly #context: ContextJudge;
  readonly #lines: LineJudge;
  readonly #turns: TurnJudge;
  /** What the response that TTS could not speak hands on to the one that repeats it. */
  #repeated: StoryResponse | undefined;
  /** It made no sound at all, and is over in this step. */
  #silent: StoryResponse | undefined;
  /** Orders of this step that have been looked at. */
  #cancelled = false;
  /** Tools run, and the answer waits for them. */
  #inTools = false;
  /** Tools that the newest request was offered. */
  #offered: readonly string[] = [];
  /** An answer was begun in one request and finished in another. */
  #mixed = false;
  readonly #graces = new Map<number, number>();

  constructor(story: Story, { context, lines, turns }: ResponseJudgeOptions) {
    this.#story = story;
    this.#context = context;
    this.#lines = lines;
    this.#turns = turns;
  }

  facts(scene: Scene): void {
    const { event, now } = scene;
    const story = this.#story;
    const { response } = story;
    this.#cancelled = false;
    this.#silent = undefined;
    if (event.type === 'call.resumed') this.#takenOver();
    if ((event.type === 'llm.done' || event.type === 'llm.failed') && event.round === story.running) {
      story.running = undefined;
      if (event.round !== story.speculative?.round) story.finishedRounds.push(event.round);
      else story.speculative.hangsUp = this.#hangsUp(event);
      this.#llmEnded(scene, response);
    }
    if (event.type === 'mark.played') markPlayed(story, event.id, now);
    if (event.type === 'mark.sent') markSent(story, event, now);
    if (response === undefined) return;
    if (!('context' in event) || event.context !== response.context) return;
    const base = story.witnesses.tts.baseOf(response.context).chars;
    // The announcement has no characters, and lasts all the same.
    const spoken = event.type === 'tts.spoken' ? base + event.chars : -1;
    const { chars, ms } = response.reported;
    if (event.type === 'tts.spoken' && (spoken > chars || (spoken === chars && event.audioMs > ms)))
      response.reported = { chars: spoken, ms: event.audioMs };
    story.tts.saw(event, response, base);
    if (event.type === 'tts.flushed') response.reported = { chars: response.said.length, ms: event.audioMs };
    if (event.type === 'playout.acknowledged') response.acknowledged = true;
    if (event.type === 'playout.started') response.startedAt ??= now;
    if (event.type === 'playout.drained') {
      response.drainedAt = now;
      response.drainedMs = event.sentMs;
    }
  }

  #takenOver(): void {
    const story = this.#story;
    story.running = undefined;
    story.speculative = undefined;
    story.held = false;
    // Rounds that were begun after the last record was written are not known, and their results went with the worker.
    story.lastRound = 0;
    this.#mixed = true;
  }

  #llmEnded(scene: Scene, response: StoryResponse | undefined): void {
    const { event, now } = scene;
    const story = this.#story;
    if (response === undefined || !('round' in event)) return;
    if (event.type === 'llm.done') {
      if (response.plain.trim() !== '') story.faults.llm = 0;
      if (this.#hangsUp(event)) story.takesLeave(response);
    }
    const calls = event.type === 'llm.done' ? event.toolCalls.length : 0;
    const silent =
      response.plain.trim() === '' && calls === 0 && !scene.has('tts.speak') && !scene.has('call.end');
    story.demand(now, !silent || response.broken, 'an LLM without an answer gets no apology');
  }

  #hangsUp(event: Extract<CallEvent, { type: 'llm.done' | 'llm.failed' }>): boolean {
    const calls = event.type === 'llm.done' ? event.toolCalls : [];
    const offered = this.#offered.includes('end_call');
    return offered && calls.some(({ name }) => name === 'end_call');
  }

  /** Ends of the response that come from facts, before the orders of the step are looked at. */
  ends(scene: Scene): void {
    const story = this.#story;
    const { response } = story;
    if (response?.drainedAt === undefined) return;
    if (response.broken) {
      this.#context.broken(response, response.drainedMs);
      this.#close(response);
      // Behind the announcement nothing is spoken again, unless a caller may be asking something else: an answer is asked for later.
      const gaveWay = story.mouth === 'candidate' && story.held;
      const isGivenUp = response.announced && response.plain.trim() !== '' && !gaveWay;
      const isRepeated = !isGivenUp && scene.has('playout.open');
      if (isRepeated) this.#repeated = response;
      else this.#afterEnd(scene, response);
      return;
    }
    if (response.startedAt === undefined || this.#playedToItsEnd(scene, response)) {
      this.#context.completed(response);
      this.#close(response);
      const instead = response.startedAt === undefined && scene.has('playout.open');
      if (instead) this.#silent = response;
      else this.#afterEnd(scene, response);
    }
  }

  #playedToItsEnd({ event, now }: Scene, response: StoryResponse): boolean {
    const story = this.#story;
    const waiting = [...response.marks.values()].some(({ echoed }) => !echoed);
    if (event.type === 'playout.drained')
      return !waiting && response.echoedChars >= response.said.trimEnd().length;
    if (event.type === 'mark.played' && !waiting) return story.echoKnown && response.marks.has(event.id);
    return event.type === 'deadline.reached' && now >= this.#latestEnd(response);
  }

  #latestEnd(response: StoryResponse): number {
    return response.drainedAt! + this.#graceMs(response);
  }

  /** How long an echo may stay away is settled when the last frame goes out. */
  #graceMs(response: StoryResponse): number {
    const story = this.#story;
    const known = this.#graces.get(response.context);
    if (known !== undefined) return known;
    const grace = story.echoKnown ? story.echoDelayMs + story.settings.limits.markGraceMs : unconfirmedMs;
    this.#graces.set(response.context, grace);
    return grace;
  }

  /** `guesses`: the LLM is asked in this step for what may be the end of a turn. */
  #afterEnd(scene: Scene, response: StoryResponse, { guesses } = { guesses: false }): void {
    const story = this.#story;
    if (response.hangUp) {
      story.lastHangUp = true;
      const ends = scene.has('call.end') || response.broken;
      const speaks = story.mouth === 'candidate' || story.mouth === 'aside';
      const waits = this.#lines.waits && !speaks;
      story.demand(
        scene.now,
        ends || waits || (speaks && response.final !== 'surely'),
        'the call goes on after the farewell',
      );
      if (ends) return;
      // A last word that nobody may cut ends the call behind its lines, whatever is said into it.
      if (waits || (this.#lines.waits && response.final !== undefined)) story.leaves();
      if (!waits) story.parting = 'heard';
    } else if (response.round !== undefined) story.parting = 'none';
    if (scene.has('call.end')) return;
    const silent = story.mouth === 'none' && !story.voice;
    this.#turns.adopt(scene, { guesses });
    // The announcement of a voice that is out of order goes before the answer.
    const isAnnounced = story.answerIn(scene.actions)?.recorded === true;
    if (silent && story.notesOwed && !story.ending && !isAnnounced)
      story.demand(scene.now, scene.has('llm.start'), 'an entry of keys is not answered');
  }

  #close(response: StoryResponse): void {
    const story = this.#story;
    story.response = undefined;
    story.done('end');
    story.closedContexts.push(response.context);
  }

  orders(scene: Scene): void {
    if (scene.has('tool.run')) this.#inTools = true;
    if (scene.has('tools.answered')) this.#inTools = false;
    for (const action of scene.actions) this.#order(scene, action);
    this.#nothingToSay(scene);
    this.#notRepeated(scene);
    const { response } = this.#story;
    if (response?.drainedAt === undefined || this.#story.over) return;
    this.#story.await('end', this.#latestEnd(response), 'a response that was played never ends');
  }

  /** TTS has failed too often, and somebody speaks: nothing of it is said again. */
  #notRepeated(scene: Scene): void {
    const response = this.#repeated;
    if (response === undefined || this.#story.mouth !== 'candidate' || !scene.has('playout.clear')) return;
    this.#repeated = undefined;
    this.#afterEnd(scene, response);
  }

  /** A response with nothing to say is over as soon as it was opened, or as the LLM takes leave in it. */
  #nothingToSay(scene: Scene, asked = { guesses: false }): void {
    const { response, running } = this.#story;
    const takesLeave = scene.event.type === 'llm.done' && response?.hangUp === true;
    const ends = scene.has('playout.open') || scene.has('llm.cancel') || takesLeave;
    if (response === undefined || !ends || this.#inTools) return;
    if (response.said !== '' || response.announced || running !== undefined) return;
    this.#context.unheard(response);
    this.#close(response);
    this.#afterEnd(scene, response, asked);
  }

  #order(scene: Scene, action: Order): void {
    const story = this.#story;
    const { now } = scene;
    switch (action.type) {
      case 'playout.open':
        if (action.from === undefined) this.#nothingToSay(scene);
        this.#opened(scene, action);
        return;
      case 'playout.clear':
        this.#cleared(scene, action);
        return;
      case 'playout.finish':
        story.demand(now, story.response?.context === action.context, 'finish of another context');
        if (story.response !== undefined) story.response.broken = scene.event.type !== 'call.resumed';
        return;
      case 'playout.mark':
        this.#marked(scene, action);
        return;
      case 'llm.start':
        this.#asked(scene, action);
        return;
      case 'llm.cancel':
        story.demand(now, story.running !== undefined, 'no round to cancel');
        this.#cancelled = true;
        if (story.running !== undefined) story.finishedRounds.push(story.running);
        story.running = undefined;
        story.speculative = undefined;
        return;
      case 'tts.speak':
      case 'tts.flush':
        this.#spoke(scene, action);
        return;
      case 'fault.noticed':
        story.noteFault(action.stage, scene.now);
        return;
      case 'call.end':
        this.#nothingToSay(scene);
        this.#ended(scene, action.reason);
        return;
      default:
    }
  }

  #opened(scene: Scene, opening: Extract<Order, { type: 'playout.open' }>): void {
    const { context, from } = opening;
    const story = this.#story;
    const { now } = scene;
    const handedOn = from !== undefined && story.response !== undefined;
    story.demand(now, story.response === undefined || handedOn, 'two responses at once');
    story.demand(now, context > story.lastContext, 'a context is used twice');
    story.lastContext = context;
    const former = handedOn ? story.response : this.#repeated;
    this.#repeated = undefined;
    const text = spokenIn(scene.actions, context);
    const base = handedOn ? this.#baseOf(former, { baseMs: from.audioMs, text }) : undefined;
    const asked = askedFor(scene, opening);
    // A line may cut a promoted answer at once.
    const cut = story.speculative !== undefined && scene.has('playout.clear');
    const promoted = former === undefined && asked === undefined ? this.#promoted(scene) : undefined;
    const round = former?.round ?? asked?.round ?? promoted?.round;
    story.response = newStoryResponse({ context, round, former, base, usersBefore: story.users.length });
    if (promoted?.hangsUp === true) story.takesLeave(story.response);
    // A caller who was not understood may be about to say something else.
    const { apology, misheard } = story.settings;
    const asksAgain = scene.actions.some(
      (one) => one.type === 'tts.speak' && [apology, misheard].includes(one.text.trim()),
    );
    if (this.#turns.leaves && asked === undefined && promoted === undefined && !cut && !asksAgain) {
      story.takesLeave(story.response);
      story.response.final = 'surely';
    }
    this.#turns.leaves = false;
    const silent = story.mouth === 'none' || story.mouth === 'aside' || story.isBackground;
    const nobody = silent || former !== undefined;
    story.demand(now, nobody, 'the bot begins to speak while the caller does');
    if (story.mouth === 'candidate' && story.held)
      story.demand(
        now,
        scene.has('playout.pause') || scene.has('playout.duck'),
        'a repeated response plays into a candidate',
      );
  }

  /** How much of what was said is on the wire of another worker as a whole. */
  #baseOf(
    former: StoryResponse | undefined,
    from: { readonly baseMs: number; readonly text: string },
  ): { chars: number; ms: number } {
    const { tts } = this.#story.witnesses;
    return tts.baseIn(former?.context ?? 0, from) ?? { chars: 0, ms: 0 };
  }

  /** The answer that was asked for before the turn was over is the answer now. */
  #promoted(scene: Scene): Story['speculative'] {
    const story = this.#story;
    const { speculative, decided } = story;
    story.speculative = undefined;
    if (speculative === undefined || decided === undefined) return undefined;
    const written = story.witnesses.llm.written.get(speculative.round) ?? '';
    const spoken = story.answerIn(scene.actions);
    const isEmpty = (one: Order): boolean =>
      one.type === 'fault.noticed' && one.stage === 'llm' && one.what === 'empty';
    const matches = (text: string): boolean =>
      written.trim() === '' ? scene.actions.some(isEmpty) : flat(written).includes(flat(text));
    // The announcement stands in for an answer that is not given.
    if (spoken !== undefined && (spoken.recorded === true || !matches(spoken.text))) return undefined;
    const equal = speculative.words.join(' ') === decided.words.join(' ');
    story.demand(scene.now, equal || !decided.exact, 'an answer to other words is given');
    story.notesOwed = false;
    return speculative;
  }

  #cleared(scene: Scene, action: Extract<Order, { type: 'playout.clear' }>): void {
    const story = this.#story;
    const { response } = story;
    const { event, now } = scene;
    if (response === undefined) {
      story.fail(now, 'a clear without a response');
      return;
    }
    const heard = response.startedAt !== undefined;
    const mayBeCut = story.interruptible;
    story.demand(now, action.wire === heard, 'a clear on the wrong side of the wire');
    this.#close(response);
    if (!scene.has('tts.reopen')) this.#inTools = false;
    if (scene.has('tts.reopen') && !heard) {
      this.#context.unheard(response);
      this.#repeated = response;
      story.demand(now, action.epoch >= story.lastEpoch, 'a repeat moves the epoch');
      return;
    }
    const byKey = event.type === 'dtmf.pressed' && mayBeCut && story.settings.interrupt.dtmf;
    const byLine = !byKey && this.#lines.cuts && scene.actions.some((one) => isLine(one));
    const wrong = this.#turns.cut(scene, byLine);
    if (wrong !== undefined) story.fail(now, wrong);
    story.demand(now, response.final !== 'surely', 'a farewell is interrupted');
    if (response.hangUp) {
      story.lastHangUp = true;
      story.parting = 'cut';
    }
    story.demand(now, byLine || response.interruptible, 'a line that nobody may interrupt is cut');
    story.demand(now, action.epoch > story.lastEpoch, 'a cut does not move the epoch');
    story.demand(now, story.running === undefined || scene.has('llm.cancel'), 'a cut lets the LLM go on');
    story.lastEpoch = Math.max(story.lastEpoch, action.epoch);
    const position = 'position' in event ? event.position : undefined;
    this.#context.cut(response, now, position?.sentMs ?? 0);
  }

  #marked({ event, now }: Scene, action: Extract<Order, { type: 'playout.mark' }>): void {
    const { response, closedContexts } = this.#story;
    // Behind a response that was played to its end one more tells how long an echo takes by itself.
    if (event.type === 'mark.played' && closedContexts.at(-1) === action.context) return;
    this.#story.demand(now, response?.context === action.context, 'a mark in another context');
    if (response === undefined) return;
    response.marks.set(action.id, {
      atMs: response.reported.ms,
      saidChars: response.reported.chars,
      sentAt: undefined,
      inFlow: false,
      echoed: false,
    });
  }

  #asked(scene: Scene, action: Extract<Order, { type: 'llm.start' }>): void {
    const story = this.#story;
    const { now } = scene;
    // What was said into a response that is over may be guessed at in the step in which that ends.
    const last = action.messages.at(-1);
    const isNew = last?.role === 'user' && !last.text.startsWith('[');
    const words = story.witnesses.stt.turnWords.map(({ word }) => word);
    const isInto = story.mouth === 'aside' || (story.mouth === 'candidate' && !story.voice);
    const aside = isInto && isNew && isPart(plainWords(last.text), words);
    if (aside) this.#nothingToSay(scene, { guesses: true });
    const guess = story.response === undefined && (aside || !scene.has('playout.open'));
    story.demand(now, story.running === undefined, 'two rounds at once');
    story.demand(now, action.round > story.lastRound, 'a round is used twice');
    story.demand(now, action.epoch >= story.lastEpoch, 'a request in an old epoch');
    story.lastEpoch = action.epoch;
    story.lastRound = action.round;
    story.running = action.round;
    this.#offered = action.tools.map(({ name }) => name);
    if (goesOn(action.messages)) this.#mixed = true;
    if (!guess) story.notesOwed = false;
    const said = plainWords(action.messages.at(-1)?.text ?? '');
    story.speculative = guess ? { round: action.round, words: said, hangsUp: false } : undefined;
    this.#context.asked(now, action.messages, guess ? 'guess' : isRound(scene) ? 'round' : 'turn');
  }

  #spoke(scene: Scene, action: Extract<Order, { type: 'tts.speak' | 'tts.flush' }>): void {
    const story = this.#story;
    const { response } = story;
    const { now } = scene;
    if (response === undefined || response.context !== action.context) {
      story.fail(now, 'text for a context that is over');
      return;
    }
    if (action.type === 'tts.flush') {
      response.flushed = true;
      const alone = response.announced && response.plain === '';
      if (alone && (story.tts.givenUp || this.#silent?.hangUp === true)) {
        story.takesLeave(response);
        response.final = 'surely';
      }
      return;
    }
    story.demand(now, !response.flushed, 'text after the flush');
    if (action.recorded === true) {
      noteAnnouncement(story, scene, { response, text: action.text });
      return;
    }
    const line = response.said === '' ? this.#lines.take(action.text.trim(), now) : undefined;
    if (line !== undefined) response.interruptible = line.interruptible;
    response.said += action.text;
    const { fillers, lateLines, farewell } = story.settings;
    const fills = (fillers.length > 0 ? fillers : lateLines).includes(action.text.trim());
    if (!fills) response.plain += action.text;
    story.tts.given(action.context, response.said.length, { proves: !fills });
    if (flat(response.plain) === farewell) story.takesLeave(response);
    if (!response.takenOver && !this.#mixed && !this.#isKnown(flat(response.plain)))
      story.fail(now, 'the bot says what nobody wrote', response.plain);
  }

  #isKnown(plain: string): boolean {
    const { settings, witnesses } = this.#story;
    const { greeting, farewell, apology, misheard, idle, outage } = settings;
    // The requests of one answer follow one another.
    const answers = flat([...witnesses.llm.written.values()].join(' '));
    const written = plain.replaceAll(apology, '').replaceAll(outage.back || apology, '');
    const own = withoutRest(withoutBegun(flat(written), apology), outage.back);
    const texts = [greeting, farewell, apology, misheard, idle.ask, outage.hold, answers];
    return texts.some((text) => text.includes(own)) || this.#lines.was(own);
  }

  #ended({ now, event }: Scene, reason: 'ended' | 'shutdown' | 'transferred'): void {
    const story = this.#story;
    const tts = story.isHopeless('tts');
    const late = story.openedAt !== undefined && now >= story.openedAt + story.settings.maxCallMs + 30_000;
    const said = story.lastHangUp;
    if (reason === 'ended') story.demand(now, tts || late || said, 'the call ends without a reason');
    else story.demand(now, event.type === 'call.shutdown', 'a shutdown without a reason');
    story.over = true;
  }
}

/** The request for the answer that is opened here; a line that cuts this answer in the same step has none. */
function askedFor(
  { actions }: Scene,
  opening: Extract<Order, { type: 'playout.open' }>,
): Extract<Order, { type: 'llm.start' }> | undefined {
  const behind = actions.slice(actions.indexOf(opening) + 1);
  const next = behind.findIndex(({ type }) => type === 'playout.open');
  return behind.slice(0, next === -1 ? undefined : next).find((action) => action.type === 'llm.start');
}
