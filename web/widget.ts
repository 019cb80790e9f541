/**
 * The call as an element for somebody else's page: `<voice-agent-call url="wss://…" token-endpoint="/api/call-token">`. One script without
 * anything beside it; it brings its styles and worklets along.
 *
 * Invariant: nothing of the page around it is read or changed, and one element has at most one call at a time, which ends when the
 * element is taken out of the page.
 */
import { CallFailed, tokenFrom, VoiceCall, type ConversationLine } from './client/index.ts';
import { problemOf, STATE_WORDS } from './words.ts';
import { widgetStyle } from './widget-style.ts';

const SHOWN_LINES = 6;

declare global {
  interface HTMLElementTagNameMap {
    'voice-agent-call': HTMLElement;
  }
}

/** A server that renders the page runs this script, too, and has no elements. */
const Base = 'HTMLElement' in globalThis ? HTMLElement : (Object as unknown as typeof HTMLElement);

class VoiceAgentCall extends Base {
  static readonly observedAttributes = ['label'];
  readonly #button = document.createElement('button');
  readonly #mute = document.createElement('button');
  readonly #state = document.createElement('p');
  readonly #problem = document.createElement('p');
  readonly #lines = document.createElement('ol');
  readonly #box = document.createElement('section');
  #call: VoiceCall | undefined;
  #isBuilt = false;

  connectedCallback(): void {
    if (!this.#isBuilt) this.#build();
    this.#draw();
  }

  disconnectedCallback(): void {
    // An element that is moved is taken out and put in again at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#call?.hangUp();
    });
  }

  attributeChangedCallback(): void {
    if (this.#isBuilt) this.#draw();
  }

  #build(): void {
    this.#isBuilt = true;
    const root = this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(widgetStyle);
    root.adoptedStyleSheets = [sheet];
    this.#button.type = 'button';
    this.#button.className = 'call';
    this.#button.addEventListener('click', () => (this.#isRunning ? this.#call?.hangUp() : this.#begin()));
    this.#mute.type = 'button';
    this.#mute.className = 'mute';
    this.#mute.addEventListener('click', () => {
      if (this.#call !== undefined) this.#call.muted = !this.#call.muted;
      this.#draw();
    });
    this.#state.setAttribute('role', 'status');
    this.#state.className = 'state';
    this.#problem.setAttribute('role', 'alert');
    this.#problem.className = 'problem';
    const log = document.createElement('div');
    log.setAttribute('role', 'log');
    log.setAttribute('aria-label', 'Conversation');
    log.append(this.#lines);
    const row = document.createElement('div');
    row.className = 'row';
    row.append(this.#button, this.#mute, this.#state);
    this.#box.append(row, this.#problem, log);
    root.append(this.#box);
  }

  get #isRunning(): boolean {
    return this.#call !== undefined && this.#call.state !== 'ended';
  }

  #begin(): void {
    const endpoint = this.getAttribute('token-endpoint');
    const whip = this.getAttribute('whip');
    const workletUrl = this.getAttribute('worklets');
    const call = new VoiceCall({
      url: this.getAttribute('url') ?? '/ws',
      ...(whip !== null && { whip }),
      ...(endpoint !== null && { token: tokenFrom(new URL(endpoint, document.baseURI)) }),
      ...(workletUrl !== null && { workletUrl: new URL(workletUrl, document.baseURI) }),
    });
    this.#call = call;
    this.#lines.replaceChildren();
    call.on('state', () => this.#draw());
    call.on('conversation', () => this.#drawLines(call));
    call.on('ended', () => {
      this.#draw();
      this.dispatchEvent(new CustomEvent('ended', { detail: call.outcome }));
    });
    call.start().catch((error: unknown) => {
      // Shown from `outcome`, as the end of any call.
      if (!(error instanceof CallFailed)) throw error;
    });
  }

  #draw(): void {
    const call = this.#call;
    const label = this.getAttribute('label');
    this.#box.setAttribute('aria-label', label ?? 'Voice call');
    this.#button.textContent = this.#isRunning ? 'Hang up' : (label ?? 'Talk to us');
    this.#button.classList.toggle('running', this.#isRunning);
    this.#mute.hidden = !this.#isRunning;
    this.#mute.textContent = call?.muted === true ? 'Unmute' : 'Mute';
    this.#state.textContent = call === undefined ? '' : STATE_WORDS[call.state];
    const problem = call?.outcome === undefined ? undefined : problemOf(call.outcome);
    this.#problem.hidden = problem === undefined;
    this.#problem.textContent = problem === undefined ? '' : `${problem.title}. ${problem.advice}`;
  }

  #drawLines({ conversation }: VoiceCall): void {
    this.#lines.replaceChildren(...conversation.lines.slice(-SHOWN_LINES).map(itemOf));
  }
}

function itemOf(line: ConversationLine): HTMLLIElement {
  const item = document.createElement('li');
  item.className = line.who;
  item.ariaBusy = line.state === 'open' ? 'true' : 'false';
  const heard = line.state === 'cut' ? (line.heard ?? line.text.length) : line.text.length;
  item.append(line.text.slice(0, heard));
  if (heard < line.text.length) {
    const unheard = document.createElement('s');
    unheard.textContent = line.text.slice(heard);
    item.append(unheard);
  }
  return item;
}

if ('customElements' in globalThis && customElements.get('voice-agent-call') === undefined)
  customElements.define('voice-agent-call', VoiceAgentCall);
