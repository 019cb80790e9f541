/**
 * Draws a call onto the document.
 *
 * Invariant: it reads the call and writes the document, never the other way round, and touches only what has changed, so
 * that screen readers hear a state once. Styles are set through the object model: the page allows no inline styles.
 */
import type { AudioDevices } from './client/index.ts';
import { ConversationView } from './conversation-view.ts';
import { byId, setText } from './elements.ts';
import { formatLength, formatMs, meterShare } from './figures.ts';
import { LogView } from './log-view.ts';
import type { PageCall } from './page-call.ts';
import { TurnChart } from './turn-chart.ts';
import {
  CONVERSATION_WORDS,
  hintFor,
  LINE_WORDS,
  NOT_CONNECTED,
  problemOf,
  QUALITY_WORDS,
  shownName,
  STATE_WORDS,
} from './words.ts';

/** Share of a meter's height that it falls back by per drawing. */
const METER_FALL = 0.9;

export class View {
  readonly callButton = byId('call', HTMLButtonElement);
  readonly muteButton = byId('mute', HTMLButtonElement);
  readonly microphones = byId('microphones', HTMLSelectElement);
  readonly speakers = byId('speakers', HTMLSelectElement);
  readonly keys = byId('keys', HTMLElement);
  readonly volume = byId('volume', HTMLInputElement);
  readonly typing = byId('typing', HTMLFormElement);
  readonly typed = byId('typed', HTMLInputElement);
  readonly turns = new TurnChart();
  readonly #stage = byId('stage', HTMLElement);
  readonly #state = byId('state', HTMLElement);
  readonly #hint = byId('hint', HTMLElement);
  readonly #label = byId('call-label', HTMLElement);
  readonly #muteLabel = byId('mute-label', HTMLElement);
  readonly #problem = byId('problem', HTMLElement);
  readonly #problemTitle = byId('problem-title', HTMLElement);
  readonly #problemAdvice = byId('problem-advice', HTMLElement);
  readonly #callerMeter = byId('caller-level', HTMLElement);
  readonly #agentMeter = byId('agent-level', HTMLElement);
  readonly #last = byId('last-time', HTMLElement);
  readonly #median = byId('median-time', HTMLElement);
  readonly #length = byId('length', HTMLElement);
  readonly #quality = byId('quality', HTMLElement);
  readonly #send = byId('send', HTMLButtonElement);
  readonly #quietly = byId('quietly', HTMLInputElement);
  readonly #log = new LogView();
  readonly #conversation = new ConversationView();
  readonly #lines = byId('lines-choice', HTMLSelectElement);
  #whip: string | undefined;
  #callerShare = 0;
  #agentShare = 0;

  /** The caller wants to read the answer to what is typed, and not to hear it. */
  get answersQuietly(): boolean {
    return this.#quietly.checked;
  }

  showAgent(name: string): void {
    const shown = shownName(name);
    byId('agent', HTMLElement).textContent = shown;
    document.title = shown;
  }

  /** The page may call by WebRTC, at this address. */
  offerWebrtc(whip: string | undefined): void {
    this.#whip = whip;
    byId('line-choice', HTMLElement).hidden = whip === undefined;
  }

  /** Where calls by WebRTC go; undefined where they are not wanted. */
  get whip(): string | undefined {
    return this.#lines.value === 'webrtc' ? this.#whip : undefined;
  }

  /** Device ids that were chosen; nothing for those of the system. */
  get chosenDevices(): { readonly microphone?: string; readonly speaker?: string } {
    return {
      ...(this.microphones.value !== '' && { microphone: this.microphones.value }),
      ...(this.speakers.value !== '' && { speaker: this.speakers.value }),
    };
  }

  showDevices({ microphones, speakers }: AudioDevices): void {
    fillChoice(this.microphones, microphones);
    fillChoice(this.speakers, speakers);
    byId('sound', HTMLElement).hidden = microphones.length + speakers.length === 0;
    byId('speaker-row', HTMLElement).hidden = speakers.length === 0;
  }

  draw(call: PageCall): void {
    const { voice, outcome } = call;
    const { state } = voice;
    if (this.#stage.dataset['state'] !== state) this.#stage.dataset['state'] = state;
    const problem = outcome === undefined ? undefined : problemOf(outcome);
    setText(this.#state, problem !== undefined && call.lengthMs === 0 ? NOT_CONNECTED : STATE_WORDS[state]);
    setText(this.#hint, hintFor(state, call.circumstances));
    setText(this.#problemTitle, problem?.title ?? '');
    setText(this.#problemAdvice, problem?.advice ?? '');
    this.#problem.hidden = problem === undefined;
    this.#drawButtons(call);
    this.#drawLevels(call);
    setText(this.#last, formatMs(voice.responses.lastMs));
    setText(this.#median, formatMs(voice.responses.medianMs));
    setText(this.#length, formatLength(call.lengthMs));
    setText(this.#quality, QUALITY_WORDS[call.quality]);
    this.#quality.title = voice.line === undefined ? '' : `By ${LINE_WORDS[voice.line]}`;
    const nothing = call.isWithoutTranscript ? CONVERSATION_WORDS.untold : CONVERSATION_WORDS.empty;
    this.#conversation.draw(voice.conversation.lines, nothing);
    this.#log.draw(call.log);
  }

  #drawButtons(call: PageCall): void {
    const { isRunning, isOpen, voice } = call;
    setText(this.#label, isRunning ? (voice.state === 'connecting' ? 'Cancel' : 'Hang up') : 'Call');
    this.callButton.classList.toggle('is-calling', isRunning);
    this.callButton.disabled = voice.state === 'ending';
    this.muteButton.hidden = !isRunning;
    this.muteButton.classList.toggle('is-muted', voice.muted);
    setText(this.#muteLabel, voice.muted ? 'Unmute' : 'Mute');
    for (const key of this.keys.querySelectorAll('button')) key.disabled = !isOpen;
    for (const field of [this.typed, this.#send, this.#quietly]) field.disabled = !isOpen;
  }

  #drawLevels({ voice }: PageCall): void {
    this.#callerShare = Math.max(meterShare(voice.inputLevel), this.#callerShare * METER_FALL);
    this.#agentShare = Math.max(meterShare(voice.outputLevel), this.#agentShare * METER_FALL);
    this.#callerMeter.style.setProperty('--level', this.#callerShare.toFixed(3));
    this.#agentMeter.style.setProperty('--level', this.#agentShare.toFixed(3));
    const heard = voice.state === 'agent-speaking' ? this.#agentShare : this.#callerShare;
    this.#stage.style.setProperty('--level', heard.toFixed(3));
  }
}

/** Keeps what is chosen, and the first entry, which is the system's own choice. */
function fillChoice(choice: HTMLSelectElement, devices: readonly MediaDeviceInfo[]): void {
  const chosen = choice.value;
  choice.length = 1;
  for (const { deviceId, label } of devices) {
    if (deviceId === 'default' || deviceId === 'communications') continue;
    choice.add(new Option(label, deviceId));
  }
  choice.value = devices.some(({ deviceId }) => deviceId === chosen) ? chosen : '';
}
