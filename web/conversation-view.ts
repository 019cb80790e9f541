/**
 * Draws the conversation. Invariant: a line that is still growing is marked busy, so that screen readers say it once, when it is whole;
 * it touches only what has changed.
 */
import type { ConversationLine } from './client/index.ts';
import { byId, isAtEnd, setText } from './elements.ts';

interface Drawn {
  readonly item: HTMLLIElement;
  readonly text: HTMLElement;
  /** What the caller did not hear of a line that was cut. */
  readonly unheard: HTMLElement;
  readonly note: HTMLElement;
}

const SPEAKER = { caller: 'You', agent: 'Agent' } as const;

export class ConversationView {
  readonly #list = byId('lines', HTMLOListElement);
  readonly #scroll = byId('lines-scroll', HTMLElement);
  readonly #empty = byId('lines-empty', HTMLElement);
  readonly #drawn = new Map<number, Drawn>();
  #shown: readonly ConversationLine[] | undefined;

  /** `nothing` is said while there is no line. */
  draw(lines: readonly ConversationLine[], nothing: string): void {
    if (lines !== this.#shown) {
      this.#shown = lines;
      this.#drawn.clear();
      this.#list.replaceChildren();
    }
    const follows = isAtEnd(this.#scroll);
    for (const line of lines) this.#drawLine(line);
    const oldest = lines[0]?.id ?? 0;
    for (const [id, { item }] of this.#drawn) {
      if (id >= oldest) break;
      item.remove();
      this.#drawn.delete(id);
    }
    setText(this.#empty, nothing);
    this.#empty.hidden = lines.length > 0;
    if (follows) this.#scroll.scrollTop = this.#scroll.scrollHeight;
  }

  #drawLine(line: ConversationLine): void {
    const { item, text, unheard, note } = this.#drawn.get(line.id) ?? this.#add(line);
    const heard = line.state === 'cut' ? (line.heard ?? line.text.length) : line.text.length;
    setText(text, line.text.slice(0, heard));
    setText(unheard, line.text.slice(heard));
    unheard.hidden = heard >= line.text.length;
    if (item.dataset['state'] === line.state) return;
    item.dataset['state'] = line.state;
    item.ariaBusy = line.state === 'open' ? 'true' : 'false';
    setText(note, line.state === 'cut' ? 'You interrupted this answer' : '');
  }

  #add(line: ConversationLine): Drawn {
    const item = document.createElement('li');
    item.className = `line line-${line.who}`;
    const part = (name: string, content: string): HTMLElement => {
      const element = document.createElement('span');
      element.className = name;
      element.textContent = content;
      item.append(element);
      return element;
    };
    part('line-who', line.agent ?? SPEAKER[line.who]);
    const text = part('line-text', '');
    const unheard = document.createElement('s');
    unheard.hidden = true;
    const words = document.createElement('span');
    text.append(words, unheard);
    const drawn = { item, text: words, unheard, note: part('line-note', '') };
    this.#list.append(item);
    this.#drawn.set(line.id, drawn);
    return drawn;
  }
}
