/** Judges the caller's side: who speaks, when a turn must end, what its words are, and which texts the context must hold. */
import { Asides } from '../asides.ts';
import type { Order } from '../../support/core/order.ts';
import { KeyJudge, never, type Since } from './key-judge.ts';
import { isDecision, isLine, telling, type Scene, type Story } from '../story.ts';
import { ToldWords } from '../told-words.ts';
import { SttLedger } from '../world/stt-ledger.ts';

/** What cannot be heard yet waits no longer for a voice without words. */
const longestWaitMs = 1_200;
/** STT is not asked in a voice that goes on before it has told nothing new for so long; what a new session repeats is not new. */
const quietWordsMs = 1_000;
/** No candidate holds the output for longer; and words of listening for longer than this are something to say. */
const longestHoldMs = 2_500;
const listeningMs = 1_500;

export class TurnJudge {
  readonly #story: Story;
  /** Texts that STT owes, since its session began. */
  #owed = 0;
  #lastVoiceAt = 0;
  #beganAt = 0;
  /** Since when its words may have begun: what was said into a response may be the beginning of them. */
  #wordsFrom = 0;
  #loud = false;
  /** For how long at least the voice has lasted. */
  #lastedMs = 0;
  #decidedAt = 0;
  /** For keys, behind the text of the turn. */
  #waited = false;
  readonly #stt = new SttLedger();
  #resumeAt = Infinity;
  readonly #told = new ToldWords();
  #sttGuesses = false;
  /** Nothing of the response was heard when the candidate began. */
  #isIntoSilence = false;
  /** When STT told something last, and what it had told when it was asked in a voice that goes on. */
  #toldAt = -Infinity;
  #askedOf: string | undefined;
  /** The words of the turn have ended, and its voice goes on. */
  #isCovered = false;
  #speculations = 0;
  /** A turn that came into a farewell was settled in this step, and says nothing for certain. */
  leaves = false;
  readonly #asides: Asides;
  readonly #keys: KeyJudge;

  constructor(story: Story) {
    this.#story = story;
    this.#asides = new Asides(story);
    this.#keys = new KeyJudge(story);
  }

  /** Before the orders of a step are looked at. */
  facts(scene: Scene): void {
    const { event } = scene;
    this.leaves = false;
    this.#keys.facts(scene, this.#spokeAt(scene));
    if (event.type === 'dtmf.pressed' && this.#story.mouth === 'deciding') this.#waitsForText(scene.now);
    const before = this.#told.bare;
    if (event.type === 'stt.partial') this.#sttGuesses = true;
    this.#told.take(event);
    if (this.#told.bare === before) return;
    this.#toldAt = scene.now;
    if (!this.#isCovered || this.#story.mouth !== 'own') return;
    // More words come before the turn is over: its voice is the caller's.
    this.#isCovered = false;
    this.#story.voice = true;
    this.#story.done('finalize');
  }

  /** The caller's turn moves on. Called before the judge of responses. */
  moves(scene: Scene): void {
    this.#ledger(scene);
    switch (scene.event.type) {
      case 'speech.started':
        this.#started(scene);
        break;
      case 'speech.confirmed':
        this.#confirmed(scene);
        break;
      case 'speech.stopped':
        this.#stopped(scene);
        break;
      case 'voice.paused':
        if (this.#story.mouth === 'candidate') this.#falls(scene, scene.now - scene.event.silenceMs);
        break;
      case 'voice.resumed':
        this.#resumed(scene);
        break;
      case 'voice.lasted':
        this.#lastedMs = scene.event.lastedMs;
        this.#wordless(scene);
        break;
      case 'stt.finalized':
        this.#endsCovered(scene);
        break;
      case 'deadline.reached':
        this.#asksCovered(scene);
        this.#deadline(scene);
        break;
      case 'call.resumed':
        this.#takenOver(scene);
        break;
      default:
    }
    this.#goesOn(scene);
    const mayDecide =
      this.#story.mouth === 'own' || (this.#isLateAside && scene.event.type !== 'call.resumed');
    if (mayDecide && isDecision(scene)) this.#decides(scene);
    this.#keys.complete(scene, this.#spokeAt(scene));
    // In a call that ends nobody waits for keys.
    this.#settles(scene, this.#story.ending && scene.has('playout.open'));
    // An answer without a turn: what was said into the response before was nothing.
    const answers = scene.has('playout.open') && scene.has('llm.start');
    const { type } = scene.event;
    const isAside = this.#story.mouth === 'aside' || type === 'dtmf.pressed';
    if (isAside && answers && type !== 'call.resumed') this.#keys.follow(scene);
    this.#speculates(scene);
  }

  /** After the orders of a step. */
  after(scene: Scene): void {
    this.#listensOn(scene);
    this.#settlesAside(scene);
    this.#output(scene);
    const story = this.#story;
    const waits = story.mouth === 'none' && !story.voice && story.response === undefined && !story.over;
    story.demand(scene.now, !waits || story.parting !== 'heard', 'nobody ends a call behind its farewell');
  }

  // ---- what was said into a response that went on ----

  /** The response is over, and what was said into it may be a turn. */
  get #isLateAside(): boolean {
    return this.#story.mouth === 'aside' && this.#story.response === undefined;
  }

  #becomesAside(): void {
    this.#nobody();
    this.#loud = false;
    this.#speculations = 0;
    this.#story.mouth = 'aside';
  }

  /** STT has told everything: what says something must be answered once the response is over. */
  #settlesAside(scene: Scene): void {
    const story = this.#story;
    if (story.mouth !== 'aside' || this.#owed > 0 || !this.#asides.isSure) return;
    const words = story.witnesses.stt.turnWords.map(({ word }) => word);
    if (words.length === 0) {
      story.mouth = 'none';
      this.#keys.follow(scene);
      const owes = story.notesOwed && story.response === undefined && !story.ending && !story.over;
      story.demand(scene.now, !owes || scene.has('llm.start'), 'an entry of keys is not answered');
    } else if (telling(words).length > 0 && story.response === undefined && !story.over) {
      this.#own();
      if (!story.voice) this.#mustEnd(scene.now);
    }
  }

  // ---- the voice ----

  #ledger({ event, actions, now }: Scene): void {
    if (event.type === 'stt.finalized') {
      this.#asides.told();
      this.#owed = Math.max(0, this.#owed - 1);
    }
    if (this.#stt.proves(event)) this.#story.faults.stt = 0;
    const reopens = actions.some(({ type }) => type === 'stt.reopen');
    if (event.type === 'stt.failed') this.#story.demand(now, reopens, 'a dead STT session stays');
    for (const { type } of actions) {
      if (type === 'stt.reopen') {
        this.#owed = 0;
        if (this.#asides.reopened()) this.#told.texts += 1;
      } else if (type === 'stt.finalize' || type === 'stt.flush') this.#owed += 1;
      else if (type === 'stt.replay') this.#asides.replayed();
      this.#stt.order(type);
    }
  }

  #began(now: number, wordsFrom = now): void {
    this.#beganAt = now;
    this.#wordsFrom = wordsFrom;
    this.#isIntoSilence = this.#story.response !== undefined && this.#story.response.startedAt === undefined;
    this.#story.isBackground = false;
    this.#loud = false;
    this.#lastedMs = 0;
    this.#told.forget();
    this.#resumeAt = Infinity;
    this.#story.done('resume');
  }

  /** The caller has a turn of its own. */
  #own(): void {
    this.#story.mouth = 'own';
    this.#speculations = 0;
    this.#story.done('resume');
    this.#resumeAt = Infinity;
  }

  #started(scene: Scene): void {
    const { now } = scene;
    const story = this.#story;
    story.voice = true;
    this.#isCovered = false;
    if (this.#told.bare !== '') this.#askedOf = undefined;
    story.done('finalize');
    story.done('answer');
    story.done('resume');
    this.#resumeAt = Infinity;
    story.demand(now, !scene.has('playout.clear'), 'a candidate cuts at once');
    if (story.mouth === 'deciding') story.mouth = 'own';
    else if (story.mouth === 'none' || story.mouth === 'aside') this.#fromSilence(scene);
  }

  #fromSilence(scene: Scene): void {
    const { now } = scene;
    const story = this.#story;
    if (story.response?.final === 'perhaps' && scene.actions.length > 0) story.response.final = undefined;
    const again = story.mouth === 'aside';
    const isFresh = scene.actions.some((action) => action.type === 'stt.listen' && action.fresh);
    const listens = scene.actions.some((action) => action.type === 'stt.listen' && (action.fresh || again));
    this.#asides.goesOn(scene, this.#owed);
    // What was said before was nothing.
    if (isFresh) this.#keys.follow(scene);
    const wordsFrom = again && !isFresh ? this.#wordsFrom : now;
    if (story.response === undefined) {
      story.demand(now, !scene.has('playout.pause'), 'a response that is over is held');
      story.demand(now, listens, 'nobody listens to the caller');
      this.#began(now, wordsFrom);
      this.#own();
    } else if (story.response.hangUp && scene.actions.length === 0) {
      // It may be the last word.
    } else if (story.response.final === 'surely') {
      const touches = scene.has('playout.pause') || scene.has('playout.clear');
      story.demand(now, !touches, 'speech touches the farewell');
    } else if (!story.interruptible) {
      const touches = scene.has('playout.pause') || scene.has('playout.clear');
      story.demand(now, !touches, 'speech touches what may not be interrupted');
      story.demand(now, listens, 'what is said into a response is not heard');
      this.#began(now, wordsFrom);
      story.mouth = 'candidate';
    } else {
      const isFaint = scene.event.type === 'speech.started' && scene.event.isFaint === true;
      const held = scene.has('playout.pause') || story.witnesses.plan.micHearsBot || isFaint;
      story.demand(now, held && listens, 'speech does not hold the output');
      this.#began(now, wordsFrom);
      story.mouth = 'candidate';
    }
  }

  #confirmed(scene: Scene): void {
    const story = this.#story;
    if (story.mouth !== 'candidate') {
      story.demand(scene.now, scene.actions.length === 0, 'speech is confirmed without a candidate');
      return;
    }
    this.#loud = true;
    if (!story.interruptible) return;
    const { minWords } = story.settings.interrupt;
    const { micHearsBot, echoIsClear } = story.witnesses.plan;
    if (minWords > 0 || this.#told.texts > 0 || (micHearsBot && !echoIsClear)) return;
    story.demand(scene.now, scene.has('playout.clear'), 'a confirmed interruption does not clear');
  }

  #stopped(scene: Scene): void {
    const story = this.#story;
    const wasPaused = !story.voice;
    if (wasPaused && story.mouth === 'candidate') return;
    this.#falls(scene, scene.now - story.settings.turn.stopMs);
  }

  /** The voice falls silent. */
  #falls(scene: Scene, lastVoiceAt: number): void {
    const { now } = scene;
    const story = this.#story;
    const { interrupt } = story.settings;
    story.voice = false;
    this.#askedOf = undefined;
    this.#lastVoiceAt = lastVoiceAt;
    if (story.mouth === 'candidate') {
      story.demand(now, scene.has('stt.finalize'), 'nobody asks what a candidate said');
      if (!story.interruptible && !story.held) {
        this.#becomesAside();
        return;
      }
      const resumeAt = this.#lastVoiceAt + interrupt.resumeAfterMs;
      const latest = Math.max(now, this.#beganAt + longestHoldMs);
      this.#resumesBy(story.held ? Math.min(resumeAt, latest) : resumeAt);
    } else if (story.mouth === 'own') {
      this.#mustEnd(now);
    }
  }

  #resumesBy(at: number): void {
    this.#resumeAt = at;
    this.#story.await('resume', Math.max(at, this.#lastVoiceAt), 'a candidate that died never resumes');
  }

  #mustEnd(now: number): void {
    const by = this.#lastVoiceAt + this.#story.settings.turn.maxSilenceMs;
    this.#story.await('finalize', Math.max(now, by), 'a turn never ends');
  }

  #resumed({ now }: Scene): void {
    const story = this.#story;
    if (story.mouth !== 'candidate' || story.voice) return;
    const { turn } = story.settings;
    const until = Math.min(now + turn.minSpeechMs + 100, this.#lastVoiceAt + turn.maxSilenceMs);
    const latest = story.held ? this.#beganAt + longestHoldMs : Infinity;
    this.#resumesBy(Math.max(this.#resumeAt, Math.min(until, latest)));
  }

  #deadline(scene: Scene): void {
    const story = this.#story;
    const { now } = scene;
    if (story.mouth !== 'candidate' || story.voice || now < this.#resumeAt) return;
    // TTS may be given up in the same step: what it did not say is spoken again, and nothing holds it.
    const isRepeated = scene.has('tts.reopen');
    // Words of a voice that nobody knew interrupt when it has stopped; a line that waits may cut the response then, too.
    if (scene.has('playout.clear') && !isRepeated && !scene.actions.some(isLine)) return;
    const goesOn = isRepeated ? !scene.has('playout.pause') : scene.has('playout.resume');
    story.demand(now, !story.held || goesOn, 'a candidate that died does not resume');
    if (isRepeated) story.held = false;
    this.#becomesAside();
  }

  /** STT may be asked what it has in a voice that goes on, where it has told nothing new for long. */
  #asksCovered(scene: Scene): void {
    const story = this.#story;
    if (story.mouth !== 'own' || !story.voice || !scene.has('stt.flush')) return;
    const since = Math.max(this.#toldAt, this.#beganAt);
    story.demand(scene.now, scene.now - since >= quietWordsMs, 'STT is asked in the middle of words');
    this.#askedOf = this.#told.bare;
  }

  /** It had nothing new: the caller has stopped when the words did. */
  #endsCovered({ now }: Scene): void {
    const story = this.#story;
    const asked = this.#askedOf;
    this.#askedOf = undefined;
    if (asked === undefined || story.mouth !== 'own' || !story.voice || asked !== this.#told.bare) return;
    story.voice = false;
    this.#isCovered = true;
    this.#lastVoiceAt = now - story.settings.turn.stopMs;
    this.#mustEnd(now);
  }

  /** The agent answers into the voice: it may still interrupt by words. */
  #listensOn(scene: Scene): void {
    const wasCovered = this.#isCovered && this.#story.mouth === 'none';
    if (wasCovered) this.#isCovered = false;
    const listens = scene.actions.some((action) => action.type === 'stt.listen' && action.fresh);
    if (!wasCovered || !listens) return;
    this.#began(scene.now);
    this.#story.mouth = 'candidate';
    this.#story.voice = true;
    this.#story.isBackground = true;
  }

  #nobody(): void {
    this.#story.mouth = 'none';
    this.#story.done('resume');
    this.#resumeAt = Infinity;
  }

  /** The turn is over: STT is asked. */
  #decides({ now }: Scene): void {
    const story = this.#story;
    story.demand(now, !story.voice, 'a turn ends while the caller speaks');
    const isSilent = now >= this.#lastVoiceAt + story.settings.turn.stopMs;
    story.demand(now, isSilent, 'a turn ends before its silence');
    story.done('finalize');
    story.mouth = 'deciding';
    this.#decidedAt = now;
    this.#waited = false;
    this.#waitsForText(now);
  }

  /** Since when the caller has been speaking: never, where nobody is; at any time, where an aside may be nothing. */
  #spokeAt(scene: Scene): Since {
    const { mouth, response, voice } = this.#story;
    if (mouth === 'none' || (response !== undefined && !scene.has('playout.clear'))) return never;
    const isAside = mouth === 'aside' || (mouth === 'candidate' && !voice);
    if (isAside && !this.#asides.isSure) return { earliest: -Infinity, latest: Infinity };
    return { earliest: this.#wordsFrom, latest: this.#beganAt };
  }

  /** A turn whose text is known is answered, unless keys are being pressed. */
  #settles(scene: Scene, isDue = false): void {
    const story = this.#story;
    if (story.mouth !== 'deciding' || this.#owed > 0) return;
    const { farewell } = story.settings;
    const isFarewell = ({ type, ...order }: Order): boolean =>
      type === 'tts.speak' && 'text' in order && (order.text === farewell || 'recorded' in order);
    // So is a line that waits before the farewell of a call that ends, as may be noticed in this very step.
    const isEnding = story.ending || scene.has('fault.noticed');
    const isLast = scene.actions.some((order) => isFarewell(order) || (isEnding && isLine(order)));
    if (!story.pressing || isLast || isDue) this.#answered(scene);
    else this.#waited = true;
  }

  #waitsForText(now: number): void {
    // A session that fails late is replaced once, and asked again.
    const by = now + 2 * this.#story.settings.limits.sttGiveUpMs + (this.#story.pressing ? 3_000 : 0);
    this.#story.await('answer', by, 'a turn waits for STT without end');
  }

  /** The turn is over, and its text is known and must be answered now. */
  #answered(scene: Scene): void {
    const story = this.#story;
    const { stt } = story.witnesses;
    const { now } = scene;
    story.done('answer');
    story.mouth = 'none';
    const { words: counted, certain } = this.#asides.counted;
    const words = story.isBackground ? stt.turnWords.map(({ word }) => word) : counted;
    const lost = scene.has('stt.reopen') && !scene.has('stt.replay');
    // Where it began in a voice that goes on nobody can say.
    const exact = stt.exact && !lost && certain && !story.isBackground;
    const needed = exact && telling(words).length > 0;
    story.decided = { since: this.#waited ? now : this.#decidedAt, words, exact, needed };
    if (words.length > 0) story.users.push({ words, exact, needed });
    this.#keys.follow(scene);
    if (needed) story.demand(now, scene.has('playout.open'), 'a turn is not answered');
    else if (words.length === 0 && story.notesOwed)
      story.demand(now, scene.has('playout.open'), 'an entry of keys is not answered');
    this.leaves = story.parting === 'cut' || story.parting === 'heard';
    if (!this.leaves) return;
    story.parting = 'refused';
    if (needed) this.leaves = false;
    else story.demand(now, scene.has('playout.open') || scene.has('call.end'), 'nobody takes leave');
  }

  /** The response ended by itself: speech into it is a turn now. Called by the judge of responses. */
  adopt(scene: Scene, { guesses } = { guesses: false }): void {
    const story = this.#story;
    const answers = !guesses && scene.has('llm.start') && scene.has('playout.open');
    const speaks = scene.has('tts.speak') || answers;
    if (story.mouth === 'candidate') {
      story.held = false;
      story.demand(scene.now, !speaks, 'the bot begins to speak while the caller does');
      this.#own();
      if (!story.voice) this.#mustEnd(scene.now);
    } else if (story.mouth === 'none' && story.voice) {
      story.demand(scene.now, scene.has('stt.listen'), 'speech into the end of a response is lost');
      story.demand(scene.now, !speaks, 'the bot begins to speak while the caller does');
      this.#began(scene.now);
      this.#own();
    }
  }

  /** Somebody cut the response. Called by the judge of responses; says what is wrong about it. */
  cut(scene: Scene, byLine: boolean): string | undefined {
    const story = this.#story;
    const { type } = scene.event;
    story.held = false;
    const silent = (story.mouth === 'none' || story.mouth === 'aside') && !story.voice;
    if (byLine) return silent ? undefined : 'a line cuts the caller';
    if (type === 'dtmf.pressed') {
      if (story.mouth === 'candidate' && !story.voice) this.#becomesAside();
      this.adopt(scene);
      return story.settings.interrupt.dtmf ? undefined : 'a key cuts what it may not cut';
    }
    if (story.mouth !== 'candidate' && story.mouth !== 'aside') return 'a cut without a candidate';
    const wrong = this.#wrongCut(scene);
    this.#own();
    if (!story.voice) this.#mustEnd(scene.now);
    if (!story.voice && type === 'deadline.reached' && isDecision(scene)) this.#decides(scene);
    return wrong;
  }

  #wrongCut({ event, now }: Scene): string | undefined {
    const { settings, witnesses } = this.#story;
    const { minWords } = settings.interrupt;
    const words = telling(witnesses.stt.turnWords.map(({ word }) => word));
    const worded = words.length >= Math.max(1, minWords);
    // Of words that were lost in part, nobody knows that they were words of listening.
    const may = worded || witnesses.plan.micHearsBot || !witnesses.stt.exact;
    switch (event.type) {
      case 'speech.confirmed':
        return minWords > 0 && !may && !this.#isLong ? 'a voice without words interrupts' : undefined;
      case 'stt.partial':
      case 'stt.final': {
        const late = this.#loud && now - this.#beganAt >= listeningMs;
        return may || (late && minWords === 0) ? undefined : 'words of listening interrupt';
      }
      case 'stt.finalized':
        // Words that a worker which is gone had been told.
        return may ? undefined : 'words of listening interrupt';
      case 'deadline.reached':
        return may || (this.#loud && minWords === 0 && now - this.#beganAt >= listeningMs)
          ? undefined
          : 'time interrupts';
      case 'voice.lasted':
        return may || this.#isLong ? undefined : 'a voice without words interrupts too soon';
      default:
        return 'a cut without a reason';
    }
  }

  /** A caller who goes on without STT finding a word is let in all the same, unless this STT tells words as they come. */
  #wordless(scene: Scene): void {
    const story = this.#story;
    if (this.#sttGuesses || this.#toldAt === -Infinity) return;
    if (story.mouth !== 'candidate' || !story.voice || !story.interruptible) return;
    if (story.witnesses.stt.turnWords.length > 0 || this.#owed > 0) return;
    if (story.witnesses.plan.micHearsBot || !this.#isLong) return;
    // A response that has just been played to its end is not cut any more.
    const isPlayed = story.response?.drainedAt !== undefined;
    story.demand(
      scene.now,
      isPlayed || scene.has('playout.clear'),
      'a long voice without words does not interrupt',
    );
  }

  /** Words are asked for, STT has none, and the voice has lasted long enough without. */
  get #isLong(): boolean {
    const { minWords, wordlessMs } = this.#story.settings.interrupt;
    if (minWords === 0 || wordlessMs === 0 || !this.#loud) return false;
    return this.#lastedMs >= wordlessMs;
  }

  #takenOver(scene: Scene): void {
    const story = this.#story;
    const { now } = scene;
    const { turn, interrupt } = story.settings;
    story.voice = false;
    this.#owed = scene.actions.filter(({ type }) => type === 'stt.finalize').length;
    this.#lastVoiceAt = now;
    if (story.mouth === 'candidate' && !story.interruptible && !scene.has('playout.pause')) {
      this.#becomesAside();
    } else if (story.mouth === 'candidate') {
      const latest = Math.max(now, this.#beganAt + longestHoldMs);
      const resumeAt = now + interrupt.resumeAfterMs;
      this.#resumesBy(scene.has('playout.pause') ? Math.min(resumeAt, latest) : resumeAt);
    } else if (story.mouth === 'own') {
      this.#lastVoiceAt = now - turn.stopMs;
      story.await('finalize', now + turn.maxSilenceMs, 'a turn never ends');
    } else if (story.mouth === 'deciding') {
      story.demand(now, this.#owed === 1, 'nobody asks for the text of the turn');
      story.await('answer', now + 2 * story.settings.limits.sttGiveUpMs, 'a turn waits without end');
    }
  }

  /** Requests that are made before the turn is over: few, in a pause, and never while anything runs. */
  #speculates(scene: Scene): void {
    const story = this.#story;
    const asked = scene.actions.find((action) => action.type === 'llm.start');
    if (asked === undefined || scene.has('playout.open') || story.response !== undefined) return;
    this.#speculations += 1;
    story.demand(scene.now, story.settings.turn.speculate, 'the LLM is asked too early');
    story.demand(scene.now, this.#speculations <= 2, 'too many requests for one turn');
    const isPause = !story.voice || scene.event.type === 'voice.paused';
    story.demand(scene.now, story.mouth !== 'none' && isPause, 'the LLM is asked while the caller speaks');
  }

  /** All that STT has told of the candidate is listening, or it has told that there is nothing: the agent may go on at once. */
  #mayGoOn(): boolean {
    const { words } = this.#told;
    return telling(words).length === 0 && (words.length > 0 || this.#owed === 0);
  }

  /** The agent goes on before its time. */
  #goesOn(scene: Scene): void {
    const story = this.#story;
    const { now } = scene;
    if (story.mouth !== 'candidate' || !scene.has('playout.resume')) return;
    const longestMs = this.#isIntoSilence ? longestWaitMs : longestHoldMs;
    const isDue = now >= this.#resumeAt || now >= this.#beganAt + longestMs;
    const may = isDue || !story.witnesses.stt.exact || this.#mayGoOn();
    story.demand(now, may, 'the bot goes on into what was said');
    if (!story.voice) this.#becomesAside();
  }

  /** The output is held for a candidate, and not for long. */
  #output({ actions }: Scene): void {
    const story = this.#story;
    for (const { type } of actions) {
      if (/^playout.(pause|duck|resume|clear|open)$/.test(type)) story.ducked = type === 'playout.duck';
      if (type === 'playout.pause') {
        // A response that had nothing left to say is over in the step in which it was opened.
        story.held = story.response !== undefined;
        story.await('hold', this.#beganAt + longestHoldMs, 'the output is held for too long');
      } else if (type === 'playout.resume') story.held = false;
    }
    if (!story.held) story.done('hold');
  }
}
