/**
 * What was said into a response that went on, as the judge of turns knows it: which of the words belong to what the caller says
 * next, and which turned out to say nothing.
 */
import { telling, type Scene, type Story } from './story.ts';

export class Asides {
  readonly #story: Story;
  /** Texts that STT owes for what was said before the caller began again, and how many words that were. */
  #owed = 0;
  #words = 0;
  /** Words at the beginning that turned out to say nothing. */
  #dropped = 0;
  /** What they say is not known. */
  #vague = false;

  constructor(story: Story) {
    this.#story = story;
  }

  /** Nobody is told apart from somebody only where STT keeps its contract and the microphone hears the caller alone. */
  get isSure(): boolean {
    const { stt, plan } = this.#story.witnesses;
    return stt.exact && !plan.micHearsBot;
  }

  /** Words of the turn that count, and whether they are certainly all. */
  get counted(): { words: readonly string[]; certain: boolean } {
    return { words: this.#given().slice(this.#dropped), certain: !this.#vague };
  }

  #given(): string[] {
    return this.#story.witnesses.stt.turnWords.map(({ word }) => word);
  }

  /** The caller begins to speak: what was said before is the beginning of it, unless STT is told to forget it. */
  goesOn(scene: Scene, owed: number): void {
    const words = this.#given();
    const fresh = scene.actions.some((action) => action.type === 'stt.listen' && action.fresh);
    if (fresh && this.#story.mouth === 'aside' && this.isSure && telling(words).length > 0)
      this.#story.fail(scene.now, 'what was said into a response is forgotten');
    this.#owed = fresh ? 0 : owed;
    this.#words = fresh ? 0 : words.length;
    if (!fresh) return;
    this.#dropped = 0;
    this.#vague = false;
  }

  /** STT has told a text. Words from before the caller began again count when they say something. */
  told(): void {
    if (this.#owed === 0) return;
    this.#owed -= 1;
    if (this.#owed > 0 || this.#story.mouth === 'aside') return;
    const words = this.#given().slice(0, this.#words);
    if (!this.isSure) this.#vague = true;
    else if (telling(words).length === 0) this.#dropped = words.length;
  }

  /** A new session of STT tells everything again. True when the old one owed something. */
  reopened(): boolean {
    const owed = this.#owed > 0;
    this.#owed = 0;
    return owed;
  }

  replayed(): void {
    this.#dropped = 0;
  }
}
