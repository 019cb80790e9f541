/** Judges the bot's side: one response at a time, in its epoch, audible in time, ended by what must end it. */
import type { CallAction } from '../../worker/core/actions.ts';
import type { ContextJudge } from './context-judge.ts';
import type { Scene, Story, StoryResponse } from './story.ts';

const unconfirmedMs = 500;

export class ResponseJudge {
  readonly #story: Story;
  readonly #context: ContextJudge;
  readonly #adopt: (scene: Scene) => void;
  /** What the response that TTS could not speak hands on to the one that repeats it. */
  #repeated: StoryResponse | undefined;

  constructor(story: Story, context: ContextJudge, adopt: (scene: Scene) => void) {
    this.#story = story;
    this.#context = context;
    this.#adopt = adopt;
  }

  facts(scene: Scene): void {
    const { event, now } = scene;
    const story = this.#story;
    const { response } = story;
    if ((event.type === 'llm.done' || event.type === 'llm.failed') && event.epoch === story.running) {
      story.running = undefined;
      story.finishedRounds.push(event.epoch);
      this.#llmEnded(scene, response);
    }
    if (event.type === 'mark.played') this.#echoed(event.id, now);
    if (event.type === 'mark.sent') story.newestMark = { id: event.id, sentAt: now };
    if (response === undefined) return;
    if (event.type === 'mark.sent') {
      const mark = response.marks.get(event.id);
      if (mark !== undefined) mark.sentAt = now;
    }
    if (!('context' in event) || event.context !== response.context) return;
    if (event.type === 'tts.spoken' && event.audioMs > response.reported.ms)
      response.reported = { chars: event.chars, ms: event.audioMs };
    if (event.type === 'tts.flushed') response.reported = { chars: response.said.length, ms: event.audioMs };
    if (event.type === 'playout.started') {
      response.startedAt = now;
      story.faultsInARow.tts = 0;
      story.done('audible');
    }
    if (event.type === 'playout.drained') {
      response.drainedAt = now;
      response.drainedMs = event.sentMs;
    }
  }

  #llmEnded(scene: Scene, response: StoryResponse | undefined): void {
    const { event, now } = scene;
    const story = this.#story;
    if (event.type === 'llm.done') {
      story.faultsInARow.llm = 0;
      if (response !== undefined) response.hangUp ||= event.toolCalls.some(({ name }) => name === 'end_call');
    }
    const silent = response?.said === '' && !scene.has('tts.speak') && !scene.has('call.end');
    const willSpeak = response?.broken === true;
    story.demand(now, !silent || willSpeak, 'an LLM without an answer gets no apology');
  }

  #echoed(id: string, now: number): void {
    const story = this.#story;
    story.echoKnown = true;
    if (story.newestMark?.id === id) {
      story.echoDelayMs = now - story.newestMark.sentAt;
      story.newestMark = undefined;
    }
    const mark = story.response?.marks.get(id);
    if (story.response === undefined || mark?.sentAt === undefined || mark.echoed) return;
    story.echoDelayMs = now - mark.sentAt;
    story.response.echoedChars = Math.max(story.response.echoedChars, mark.saidChars);
    for (const other of story.response.marks.values())
      if (other.saidChars <= mark.saidChars) other.echoed = true;
  }

  /** Ends of the response that come from facts, before the orders of the step are looked at. */
  ends(scene: Scene): void {
    const story = this.#story;
    const { response } = story;
    if (response?.drainedAt === undefined) return;
    if (response.broken) {
      this.#context.broken(response, response.drainedMs);
      this.#close(response);
      this.#repeated = response;
      if (!scene.has('playout.open')) this.#afterEnd(scene, response);
      return;
    }
    if (response.startedAt === undefined || this.#playedToItsEnd(scene, response)) {
      this.#context.completed(response);
      this.#close(response);
      this.#afterEnd(scene, response);
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

  readonly #graces = new Map<number, number>();

  #afterEnd(scene: Scene, response: StoryResponse): void {
    const story = this.#story;
    if (response.hangUp) {
      story.lastHangUp = true;
      story.demand(
        scene.now,
        scene.has('call.end') || response.broken,
        'the call goes on after the farewell',
      );
      return;
    }
    if (scene.has('call.end')) return;
    const silent = story.mouth === 'none' && !story.voice;
    this.#adopt(scene);
    if (silent && story.notesOwed && !story.ending)
      story.demand(scene.now, scene.has('llm.start'), 'an entry of keys is not answered');
  }

  #close(response: StoryResponse): void {
    const story = this.#story;
    story.response = undefined;
    story.done('audible');
    story.done('end');
    story.closedContexts.push(response.context);
  }

  orders(scene: Scene): void {
    for (const action of scene.actions) this.#order(scene, action);
    this.#nothingToSay(scene);
    const { response } = this.#story;
    if (response?.drainedAt === undefined || this.#story.over) return;
    this.#story.await('end', this.#latestEnd(response), 'a response that was played never ends');
  }

  /** A response that was opened with nothing to say is over at once. */
  #nothingToSay(scene: Scene): void {
    const { response, running } = this.#story;
    if (response === undefined || !scene.has('playout.open') || response.said !== '' || running !== undefined)
      return;
    this.#context.unheard(response);
    this.#close(response);
    this.#afterEnd(scene, response);
  }

  #order(scene: Scene, action: CallAction): void {
    const story = this.#story;
    const { now } = scene;
    switch (action.type) {
      case 'playout.open':
        this.#nothingToSay(scene);
        this.#opened(scene, action.context);
        return;
      case 'playout.clear':
        this.#cleared(scene, action);
        return;
      case 'playout.finish':
        story.demand(now, story.response?.context === action.context, 'finish of another context');
        if (story.response !== undefined) story.response.broken = true;
        return;
      case 'playout.mark':
        this.#marked(now, action);
        return;
      case 'llm.start':
        this.#asked(scene, action);
        return;
      case 'llm.cancel':
        story.demand(now, story.running !== undefined, 'no round to cancel');
        if (story.running !== undefined) story.finishedRounds.push(story.running);
        story.running = undefined;
        return;
      case 'tts.speak':
      case 'tts.flush':
        this.#spoke(now, action);
        return;
      case 'fault.noticed':
        story.faultsInARow[action.stage] += 1;
        if (action.what === 'stalled') this.#hurry(now);
        return;
      case 'call.end':
        this.#nothingToSay(scene);
        this.#ended(scene, action.reason);
        return;
      default:
    }
  }

  #hurry(now: number): void {
    const story = this.#story;
    if (story.response === undefined || story.response.startedAt !== undefined || story.mouth !== 'none')
      return;
    story.await('audible', now + story.settings.limits.responseStallMs, 'a response stays silent');
  }

  #opened(scene: Scene, context: number): void {
    const story = this.#story;
    const { now } = scene;
    story.demand(now, story.response === undefined, 'two responses at once');
    story.demand(now, context > story.lastContext, 'a context is used twice');
    story.lastContext = context;
    const round = scene.actions.find((action) => action.type === 'llm.start');
    const former = this.#repeated;
    this.#repeated = undefined;
    story.response = {
      context,
      round: former?.round ?? (round?.type === 'llm.start' ? round.epoch : undefined),
      continues: former?.broken === true,
      usersBefore: story.users.length,
      said: '',
      flushed: false,
      stopped: false,
      hangUp: former?.hangUp ?? false,
      broken: false,
      startedAt: undefined,
      drainedAt: undefined,
      drainedMs: 0,
      reported: { chars: 0, ms: 0 },
      marks: new Map(),
      echoedChars: 0,
      resumedAt: undefined,
      heldFrom: story.mouth === 'candidate' || story.mouth === 'fading' ? now : undefined,
    };
    story.demand(
      now,
      story.mouth === 'none' || former !== undefined,
      'the bot begins to speak while the caller does',
    );
    if (story.mouth === 'none')
      story.await('audible', now + story.settings.limits.responseStallMs, 'a response stays silent');
    else story.demand(now, scene.has('playout.pause'), 'a repeated response plays into a candidate');
  }

  #cleared(scene: Scene, action: Extract<CallAction, { type: 'playout.clear' }>): void {
    const story = this.#story;
    const { response } = story;
    const { event, now } = scene;
    if (response === undefined) {
      story.fail(now, 'a clear without a response');
      return;
    }
    story.demand(
      now,
      action.wire === (response.startedAt !== undefined),
      'a clear on the wrong side of the wire',
    );
    this.#close(response);
    if (scene.has('tts.reopen')) {
      this.#context.unheard(response);
      this.#repeated = response;
      story.demand(now, action.epoch >= story.lastEpoch && !action.wire, 'a repeat moves the epoch');
      return;
    }
    story.demand(
      now,
      event.type === 'speech.confirmed' || event.type === 'dtmf.pressed',
      'a cut without a reason',
    );
    story.demand(now, !response.hangUp || story.mouth === 'turn', 'a farewell is interrupted');
    story.demand(now, action.epoch > story.lastEpoch, 'a cut does not move the epoch');
    story.demand(now, story.running === undefined || scene.has('llm.cancel'), 'a cut lets the LLM go on');
    story.lastEpoch = Math.max(story.lastEpoch, action.epoch);
    const position = 'position' in event ? event.position : undefined;
    this.#context.cut(response, now, position?.sentMs ?? 0);
    if (event.type === 'dtmf.pressed') this.#adopt(scene);
  }

  #marked(now: number, action: Extract<CallAction, { type: 'playout.mark' }>): void {
    const { response } = this.#story;
    this.#story.demand(now, response?.context === action.context, 'a mark in another context');
    if (response === undefined) return;
    response.marks.set(action.id, { saidChars: response.reported.chars, sentAt: undefined, echoed: false });
  }

  #asked(scene: Scene, action: Extract<CallAction, { type: 'llm.start' }>): void {
    const story = this.#story;
    story.demand(scene.now, story.running === undefined, 'two rounds at once');
    story.demand(scene.now, action.epoch > (story.finishedRounds.at(-1) ?? 0), 'an epoch is asked twice');
    story.demand(scene.now, action.epoch >= story.lastEpoch, 'a request in an old epoch');
    story.lastEpoch = action.epoch;
    story.running = action.epoch;
    story.notesOwed = false;
    this.#context.asked(scene.now, action.messages);
  }

  #spoke(now: number, action: Extract<CallAction, { type: 'tts.speak' | 'tts.flush' }>): void {
    const story = this.#story;
    const { response } = story;
    if (response === undefined || response.context !== action.context) {
      story.fail(now, 'text for a context that is over');
      return;
    }
    if (action.type === 'tts.flush') {
      response.flushed = true;
      return;
    }
    story.demand(now, !response.flushed, 'text after the flush');
    response.said += action.text;
    const said = response.said.replaceAll('sequel', 'SQL').trim();
    const { greeting, farewell, apology, idle } = story.settings;
    const written =
      response.round === undefined ? undefined : story.witnesses.llm.written.get(response.round);
    const known = [greeting, farewell, apology, idle.ask, written ?? ''].some((text) => text.includes(said));
    if (!known) story.fail(now, 'the bot says what nobody wrote', said);
    if (said === farewell) response.hangUp = true;
  }

  #ended({ now, event }: Scene, reason: 'ended' | 'shutdown'): void {
    const story = this.#story;
    const tts = story.faultsInARow.tts >= story.settings.limits.stageFailures;
    const late = story.openedAt !== undefined && now >= story.openedAt + story.settings.maxCallMs + 30_000;
    const said = story.lastHangUp;
    if (reason === 'ended') story.demand(now, tts || late || said, 'the call ends without a reason');
    else story.demand(now, event.type === 'call.shutdown', 'a shutdown without a reason');
    story.over = true;
  }
}
