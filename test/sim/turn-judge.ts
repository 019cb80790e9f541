/** Judges the caller's side: who speaks, what STT made of it, when a turn must end, and which texts the context must hold. */
import type { Scene, Story } from './story.ts';

export class TurnJudge {
  readonly #story: Story;
  #owed: ('keep' | 'discard')[] = [];
  #parts: string[] = [];
  #partial = '';
  #lastVoiceAt = 0;
  #keys = { digits: '', completeAt: Infinity };

  constructor(story: Story) {
    this.#story = story;
  }

  /** Before the orders of a step are looked at. */
  facts({ event, now }: Scene): void {
    if (event.type === 'stt.partial' || event.type === 'stt.final') this.#heard(event);
    else if (event.type === 'dtmf.pressed') this.#pressed(event.digit, now);
  }

  /** Until a finalize of thrown-away speech is answered, what STT says belongs to that speech. */
  #heard(event: { type: string; text: string }): void {
    if (this.#owed[0] === 'discard') return;
    if (this.#story.mouth === 'none') return;
    if (event.type === 'stt.partial') this.#partial = event.text;
    else {
      this.#parts.push(event.text);
      this.#partial = '';
    }
  }

  #begin(): void {
    this.#parts = [];
    this.#partial = '';
  }

  /** The caller's turn moves on. Called before the judge of responses. */
  moves(scene: Scene): void {
    switch (scene.event.type) {
      case 'speech.started':
        this.#started(scene);
        return;
      case 'speech.confirmed':
        this.#confirmed(scene);
        return;
      case 'speech.stopped':
        this.#stopped(scene);
        return;
      case 'voice.resumed':
        this.#resumed(scene);
        return;
      case 'stt.finalized':
        this.#finalized(scene);
        return;
      case 'stt.failed':
        this.#failed(scene);
        return;
      case 'deadline.reached':
        this.#deadline(scene);
        return;
      case 'dtmf.pressed':
        if (scene.has('stt.finalize')) this.#discard(scene);
        return;
      default:
        this.#story.demand(scene.now, !scene.has('stt.finalize'), 'finalize without a reason');
    }
  }

  #started(scene: Scene): void {
    const { now } = scene;
    const story = this.#story;
    story.voice = true;
    story.done('finalize');
    story.done('resume');
    story.demand(now, !scene.has('playout.clear'), 'a candidate cuts at once');
    if (story.mouth === 'fading') story.mouth = 'candidate';
    else if (story.mouth === 'pausing' || story.mouth === 'finalizing') {
      story.done('answer');
      story.mouth = 'turn';
    } else if (story.mouth === 'none') this.#speechFromSilence(scene);
  }

  #speechFromSilence(scene: Scene): void {
    const { now } = scene;
    const story = this.#story;
    const { response } = story;
    if (response === undefined) {
      story.demand(now, !scene.has('playout.pause'), 'a response that is over is held');
      story.demand(now, scene.has('stt.listen'), 'nobody listens to the caller');
      this.#begin();
      story.mouth = 'turn';
      return;
    }
    if (!story.interruptible) {
      story.demand(now, scene.actions.length === 0, 'speech touches what may not be interrupted');
      return;
    }
    story.demand(
      now,
      scene.has('playout.pause') && scene.has('stt.listen'),
      'speech does not hold the output',
    );
    this.#begin();
    story.mouth = 'candidate';
    response.heldFrom = now;
    story.done('audible');
  }

  #confirmed(scene: Scene): void {
    const story = this.#story;
    if (story.mouth !== 'candidate') {
      story.demand(scene.now, scene.actions.length === 0, 'speech is confirmed without a candidate');
      return;
    }
    story.demand(scene.now, scene.has('playout.clear'), 'a confirmed interruption does not clear');
    story.demand(scene.now, scene.has('tts.cancel'), 'a confirmed interruption lets TTS go on');
    story.mouth = 'turn';
  }

  #stopped({ now }: Scene): void {
    const story = this.#story;
    const { turn, interrupt } = story.settings;
    story.voice = false;
    this.#lastVoiceAt = now - turn.stopMs;
    if (story.mouth === 'candidate') {
      story.mouth = 'fading';
      story.await(
        'resume',
        this.#lastVoiceAt + interrupt.resumeAfterMs,
        'a candidate that died never resumes',
      );
    } else if (story.mouth === 'turn') {
      story.mouth = 'pausing';
      story.await('finalize', this.#lastVoiceAt + turn.silenceEndMs, 'a turn never ends');
    }
  }

  #resumed({ now }: Scene): void {
    const story = this.#story;
    const { turn, interrupt } = story.settings;
    const until = Math.min(now + turn.minSpeechMs + 100, this.#lastVoiceAt + turn.maxSilenceMs);
    if (story.mouth === 'pausing')
      story.await('finalize', Math.max(until, this.#lastVoiceAt + turn.silenceEndMs), 'a turn never ends');
    if (story.mouth === 'fading')
      story.await(
        'resume',
        Math.max(until, this.#lastVoiceAt + interrupt.resumeAfterMs),
        'a candidate never resumes',
      );
  }

  #deadline(scene: Scene): void {
    const story = this.#story;
    const { now } = scene;
    if (scene.has('stt.finalize')) {
      if (story.mouth === 'fading') {
        story.demand(now, scene.has('playout.resume'), 'a candidate that died does not resume');
        this.#discard(scene);
      } else if (story.mouth === 'pausing') this.#finalize(scene);
      else story.fail(now, 'finalize without a pause', story.mouth);
    } else if (story.mouth === 'finalizing' && gaveUp(scene)) {
      this.#owed = [];
      this.#answered(scene);
    }
    // A turn that is given up in the same step was asked about before the entry was complete.
    if (!gaveUp(scene)) this.#completeEntry(now);
  }

  /** After the orders of a step. */
  after(scene: Scene): void {
    if (gaveUp(scene)) this.#completeEntry(scene.now);
  }

  #completeEntry(now: number): void {
    if (this.#keys.digits !== '' && now >= this.#keys.completeAt) this.#entry();
  }

  #discard(scene: Scene): void {
    const story = this.#story;
    this.#owed.push('discard');
    story.done('resume');
    story.mouth = 'none';
    const { response } = story;
    if (response === undefined) return;
    response.heldFrom = undefined;
    response.resumedAt = scene.now;
    if (response.startedAt === undefined)
      story.await('audible', scene.now + story.settings.limits.responseStallMs, 'a response stays silent');
  }

  #finalize({ now }: Scene): void {
    const story = this.#story;
    this.#owed.push('keep');
    story.done('finalize');
    story.mouth = 'finalizing';
    story.await('answer', now + story.settings.limits.sttGiveUpMs, 'a turn waits for STT without end');
  }

  #finalized(scene: Scene): void {
    this.#owed.shift();
    this.#story.faultsInARow.stt = 0;
    if (this.#story.mouth === 'finalizing' && this.#owed.length === 0) this.#answered(scene);
  }

  #failed(scene: Scene): void {
    this.#story.demand(scene.now, scene.has('stt.reopen'), 'a dead STT session stays');
    this.#owed = [];
    if (this.#partial !== '') this.#parts.push(this.#partial);
    this.#partial = '';
    if (this.#story.mouth === 'finalizing') this.#answered(scene);
  }

  /** The turn is over; what it held must be answered now. */
  #answered(scene: Scene): void {
    const story = this.#story;
    story.done('answer');
    story.mouth = 'none';
    const text = [...this.#parts, this.#partial].filter((part) => part !== '').join(' ');
    if (text !== '') {
      story.demand(scene.now, scene.has('playout.open'), 'a turn is not answered');
      story.users.push(text);
    } else if (story.notesOwed) {
      story.demand(scene.now, scene.has('playout.open'), 'an entry of keys is not answered');
    }
  }

  /** The response ended by itself: speech into it is a turn now. Called by the judge of responses. */
  adopt(scene: Scene): void {
    const story = this.#story;
    if (story.mouth === 'candidate' || (story.mouth === 'none' && story.voice)) {
      story.demand(scene.now, scene.has('stt.listen'), 'speech into the end of a response is lost');
      story.demand(scene.now, !speaks(scene), 'the bot begins to speak while the caller does');
      if (story.mouth === 'none') this.#begin();
      story.mouth = 'turn';
    } else if (story.mouth === 'fading') {
      story.done('resume');
      story.demand(scene.now, !speaks(scene), 'the bot begins to speak before the turn is over');
      story.mouth = 'pausing';
      const by = Math.max(scene.now, this.#lastVoiceAt + story.settings.turn.silenceEndMs);
      story.await('finalize', by, 'a turn never ends');
    }
  }

  #pressed(digit: string, now: number): void {
    if (digit === '#') {
      this.#keys.digits ||= '#';
      this.#entry();
      return;
    }
    this.#keys.digits += digit;
    this.#keys.completeAt = now + 3_000;
    this.#story.await('keys', now + 3_000, 'an entry of keys is never completed');
    if (this.#keys.digits.length >= 20) this.#entry();
  }

  #entry(): void {
    const story = this.#story;
    story.users.push(`[The caller pressed the keys: ${this.#keys.digits}]`);
    story.notesOwed = true;
    story.done('keys');
    this.#keys = { digits: '', completeAt: Infinity };
  }
}

const speaks = (scene: Scene): boolean => scene.has('tts.speak') || scene.has('llm.start');

const gaveUp = (scene: Scene): boolean =>
  scene.actions.some((action) => action.type === 'fault.noticed' && action.what === 'given_up');
