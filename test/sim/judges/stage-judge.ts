/**
 * Judges that everything that was opened is closed: contexts of TTS, requests to the LLM, the ear of STT, a held output, and runs of
 * tools, also at the end of the call.
 */
import type { Scene, Story } from '../story.ts';

export class StageJudge {
  readonly #story: Story;
  readonly #speaking = new Set<number>();
  #listening = false;
  /** Runs of tools by their key, with the newest attempt. */
  readonly #tools = new Map<number, number>();

  constructor(story: Story) {
    this.#story = story;
  }

  after(scene: Scene): void {
    const { event, now } = scene;
    const story = this.#story;
    if (event.type === 'call.resumed') {
      this.#speaking.clear();
      this.#listening = false;
      this.#tools.clear();
    }
    if (event.type === 'tool.settled' && this.#tools.get(event.key) === event.attempt)
      this.#tools.delete(event.key);
    if (event.type === 'tts.flushed') this.#speaking.delete(event.context);
    for (const action of scene.actions) {
      if (action.type === 'tts.speak') this.#speaking.add(action.context);
      else if (action.type === 'tts.cancel') this.#speaking.delete(action.context);
      else if (action.type === 'tts.reopen') this.#speaking.clear();
      else if (action.type === 'tool.run') this.#tools.set(action.key, action.attempt);
      else if (action.type === 'tool.abandon') this.#tools.delete(action.key);
      else if (action.type === 'stt.listen') this.#listening = true;
      else if (action.type === 'stt.finalize' || action.type === 'stt.flush') this.#listening = false;
    }
    if (story.over) {
      story.demand(now, this.#tools.size === 0, 'a tool runs on after the end of the call');
      return;
    }
    const { response, mouth, voice } = story;
    for (const context of this.#speaking)
      story.demand(now, context === response?.context, 'TTS speaks for a response that is over');
    const answers = response !== undefined || story.speculative !== undefined;
    story.demand(now, story.running === undefined || answers, 'the LLM writes for nobody');
    story.demand(now, !story.held || mouth === 'candidate', 'the output is held for nobody');
    story.demand(now, !this.#listening || mouth !== 'none' || voice, 'STT listens to nobody');
    const heard = mouth === 'own' && voice;
    story.demand(now, this.#listening || !heard, 'nobody listens to the caller');
  }
}
