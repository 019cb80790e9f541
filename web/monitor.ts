/**
 * Listening in on the page of the live view: a button in each row, and a panel for the call that is listened to. The page's own script draws the
 * rows; texts are written as text, never as markup.
 */
import { MonitorLine, type Heard, type LineEvents, type Role, type TakeoverState } from './monitor/line.ts';
import { Loudspeaker, Microphone } from './monitor/sound.ts';

/** Lines of what is said that are kept on the page. */
const mostLines = 200;

function element<K extends HTMLElement>(id: string, kind: abstract new () => K): K {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

const panel = element('monitor', HTMLElement);
const heading = element('monitor-call', HTMLElement);
const state = element('monitor-state', HTMLElement);
const said = element('monitor-said', HTMLElement);
const token = element('monitor-token', HTMLInputElement);
const by = element('monitor-by', HTMLInputElement);
const stop = element('monitor-stop', HTMLButtonElement);
const whisper = element('monitor-whisper', HTMLFormElement);
const whisperText = element('monitor-whisper-text', HTMLInputElement);
const takeOver = element('monitor-take-over', HTMLButtonElement);
const handBack = element('monitor-hand-back', HTMLFormElement);
const note = element('monitor-note', HTMLInputElement);

const states: Readonly<Record<TakeoverState, string>> = {
  agent: 'You are listening. The agent speaks to the caller.',
  coming: 'The agent finishes its sentence.',
  operator: 'An operator speaks to the caller, and the agent is silent.',
  away: 'The operator has lost the connection or the microphone. The agent goes on at once.',
};
const refusals: Readonly<Record<string, string>> = {
  forbidden: 'The token does not allow that.',
  taken: 'Another operator has the call.',
  not_yours: 'Another operator has the call.',
  queue_full: 'Too much is waiting for the agent.',
  call_ending: 'The call ends.',
};

const names: Readonly<Record<string, string>> = {
  'user.text': 'Caller',
  'bot.text': 'Agent',
  'operator.text': 'Operator',
};

class Panel implements LineEvents {
  readonly #line: MonitorLine;
  #speaker: Loudspeaker | undefined;
  #microphone: Microphone | undefined;
  #role: Role = 'listen';
  #rate = 0;
  #operatorRate = 0;
  /** The line of the agent's text that is being written. */
  #agentLine: HTMLElement | undefined;

  constructor(call: string) {
    heading.textContent = call;
    state.textContent = 'Connecting …';
    said.replaceChildren();
    panel.hidden = false;
    this.#show('agent', false);
    this.#line = new MonitorLine(call, { token: token.value, by: by.value, events: this });
  }

  close(): void {
    this.#line.close();
    this.#quiet();
    panel.hidden = true;
  }

  whisper(text: string): void {
    this.#line.whisper(text);
    this.#add('Whispered', text);
  }

  async takeOver(): Promise<void> {
    try {
      this.#microphone ??= await Microphone.open(this.#operatorRate, {
        taken: (pcm) => this.#line.voice(pcm),
        gone: () => this.#lostMicrophone(),
      });
    } catch {
      state.textContent = 'There is no microphone: allow it for this page, which needs https or localhost.';
      return;
    }
    this.#line.takeOver();
  }

  handBack(text: string): void {
    this.#line.handBack(text);
  }

  // ---- from the line ----

  ready({ role, rate, operator_rate: operatorRate }: Parameters<LineEvents['ready']>[0]): void {
    this.#role = role;
    this.#operatorRate = operatorRate;
    if (this.#rate !== rate) {
      this.#speaker?.close();
      this.#speaker = new Loudspeaker(rate);
    }
    this.#rate = rate;
    sessionStorage.setItem('monitor', token.value);
  }

  heard({ type, text = '' }: Heard): void {
    if (type === 'bot.llm_stopped' || type === 'turn.interrupted' || type === 'turn.bot_ended')
      this.#agentLine = undefined;
    const name = names[type];
    if (name === undefined || text === '') return;
    if (type === 'bot.text' && this.#agentLine !== undefined) this.#agentLine.append(text);
    else this.#agentLine = this.#add(name, text);
    if (type !== 'bot.text') this.#agentLine = undefined;
  }

  takeover({ state: now, yours, by: who }: Parameters<LineEvents['takeover']>[0]): void {
    this.#show(now, yours);
    const isMine = yours && now === 'operator';
    const named = who === undefined || yours ? '' : ` (${who})`;
    state.textContent = isMine
      ? 'You speak to the caller, and the agent is silent.'
      : `${states[now]}${named}`;
    if (now === 'agent') this.#endVoice();
  }

  answered(refused: string | undefined): void {
    if (refused !== undefined) state.textContent = refusals[refused] ?? 'That was refused.';
  }

  lost(frames: number): void {
    if (frames > 0) this.#add('Lost', `${(frames * 20) / 1000} s of sound: the connection is slow.`);
  }

  sound(frame: ArrayBuffer): void {
    this.#speaker?.play(frame);
  }

  away(): void {
    state.textContent = 'The connection is lost. Trying again …';
  }

  closed(why: string): void {
    this.#quiet();
    state.textContent = why;
    for (const part of [whisper, takeOver, handBack]) part.hidden = true;
  }

  // ---- the page ----

  #show(now: TakeoverState, yours: boolean): void {
    const mayTake = this.#role === 'take_over';
    whisper.hidden = this.#role === 'listen';
    takeOver.hidden = !mayTake || (now !== 'agent' && now !== 'away');
    handBack.hidden = !mayTake || !yours || now === 'agent' || now === 'away';
    panel.classList.toggle('mine', yours && now === 'operator');
  }

  #add(name: string, text: string): HTMLElement {
    const isAtEnd = said.scrollTop + said.clientHeight >= said.scrollHeight - 8;
    const line = document.createElement('p');
    const who = document.createElement('b');
    who.textContent = `${name}: `;
    const words = document.createElement('span');
    words.textContent = text;
    line.append(who, words);
    said.append(line);
    while (said.childElementCount > mostLines) said.firstElementChild?.remove();
    if (isAtEnd) said.scrollTop = said.scrollHeight;
    return words;
  }

  /** Without its voice the service gives the caller back to the agent. */
  #lostMicrophone(): void {
    this.#endVoice();
    this.#add('Microphone', 'It is gone, and the agent goes on with the caller.');
  }

  #endVoice(): void {
    this.#microphone?.close();
    this.#microphone = undefined;
  }

  #quiet(): void {
    this.#endVoice();
    this.#speaker?.close();
    this.#speaker = undefined;
  }
}

let open: Panel | undefined;

function addButton(row: HTMLElement): void {
  const call = row.dataset['key'] ?? '';
  const last = row.lastElementChild;
  if (last === null || last.querySelector('.listen') !== null) return;
  const button = document.createElement('button');
  button.className = 'listen';
  button.textContent = 'Listen';
  button.setAttribute('aria-label', `Listen to call ${call}`);
  button.addEventListener('click', () => {
    if (token.value === '') {
      token.focus();
      return;
    }
    open?.close();
    open = new Panel(call);
    panel.scrollIntoView({ block: 'nearest' });
  });
  last.prepend(button, ' ');
}

token.value = sessionStorage.getItem('monitor') ?? '';
document.addEventListener('live-call', ({ target }) => {
  if (target instanceof HTMLElement) addButton(target);
});
for (const row of document.querySelectorAll<HTMLElement>('#calls tr')) addButton(row);
stop.addEventListener('click', () => {
  open?.close();
  open = undefined;
});
takeOver.addEventListener('click', () => void open?.takeOver());
whisper.addEventListener('submit', (event) => {
  event.preventDefault();
  if (whisperText.value.trim() !== '') open?.whisper(whisperText.value);
  whisperText.value = '';
});
handBack.addEventListener('submit', (event) => {
  event.preventDefault();
  open?.handBack(note.value);
  note.value = '';
});
