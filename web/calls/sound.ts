/** The recording of a call, played by the browser. */
import { byId, setText } from '../elements.ts';
import { Refused, type Service } from './wire.ts';

export class Sound {
  readonly #service: Service;
  readonly #audio = byId('audio', HTMLAudioElement);
  readonly #state = byId('sound-state', HTMLParagraphElement);
  #url: string | undefined;

  constructor(service: Service) {
    this.#service = service;
    this.#audio.addEventListener('error', () => {
      if (this.#url !== undefined)
        setText(this.#state, 'This browser cannot play the recording. It can be saved below.');
    });
  }

  get audio(): HTMLAudioElement {
    return this.#audio;
  }

  get url(): string | undefined {
    return this.#url;
  }

  close(): void {
    this.#audio.pause();
    this.#audio.hidden = true;
    this.#audio.removeAttribute('src');
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
    setText(this.#state, 'There is no recording of this call here.');
  }

  /** `isWanted`: the call is still shown. */
  async open(id: string, isWanted: () => boolean): Promise<void> {
    setText(this.#state, 'Loading the recording.');
    let blob: Blob;
    try {
      blob = await this.#service.sound(id);
    } catch (error) {
      if (isWanted())
        setText(this.#state, error instanceof Refused ? error.message : 'The recording broke off.');
      return;
    }
    if (!isWanted()) return;
    this.#url = URL.createObjectURL(blob);
    this.#audio.src = this.#url;
    this.#audio.hidden = false;
    setText(this.#state, '');
  }
}
