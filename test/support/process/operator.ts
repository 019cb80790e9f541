/** An operator who listens to a call of a running service: what was heard of each side, what was told, and a voice of one's own. */
import { WebSocket } from 'ws';
import type { ToOperator } from '../../../shared/monitor/messages.ts';
import { Observed } from './observed.ts';

/** Louder than any noise. */
const loud = 1_000;

/** Milliseconds of a caller's 16 kHz in which there is sound. */
export function loudMs(pcm: Int16Array): number {
  let loudFor = 0;
  for (let at = 0; at + 320 <= pcm.length; at += 320)
    if (pcm.subarray(at, at + 320).some((sample) => Math.abs(sample) > loud / 2)) loudFor += 20;
  return loudFor;
}

export class TestOperator extends Observed {
  readonly told: ToOperator[] = [];
  /** Milliseconds in which each side was loud, and of everything. */
  readonly heard = { caller: 0, agent: 0, all: 0 };
  /** With which code the service closed the connection, or the status with which it refused one. */
  closed: number | undefined;
  /** A microphone gives silence too; here little of it, which the fake STT would take for words. */
  isMicrophoneOn = true;
  #isSpeaking = false;
  #microphone: NodeJS.Timeout | undefined;
  readonly #socket: WebSocket;

  /** @param says is sent as soon as the connection is there. */
  constructor(
    url: string,
    token: string,
    { by = '', says = [] }: { readonly by?: string; readonly says?: readonly object[] } = {},
  ) {
    super();
    const asked = by === '' ? url : `${url}?by=${encodeURIComponent(by)}`;
    this.#socket = new WebSocket(asked, [
      'svc-monitor',
      `svc-monitor-token.${Buffer.from(token).toString('base64url')}`,
    ]);
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#hear(data);
      else this.#tell(JSON.parse(data.toString()) as ToOperator);
      this.changed();
    });
    this.#socket.on('open', () => {
      for (const message of says) this.send(message);
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('unexpected-response', (_request, response) => this.#ended(response.statusCode ?? 0));
    this.#socket.on('close', (code) => this.#ended(code));
  }

  /** The connection is there. */
  async ready(): Promise<Extract<ToOperator, { type: 'ready' }>> {
    await this.until(() => this.closed !== undefined || this.#newest('ready') !== undefined);
    const ready = this.#newest('ready');
    if (ready === undefined) throw new Error(`the operator was refused: ${this.closed}`);
    return ready;
  }

  /** Who speaks for the agent's side is this now. */
  async takeover(state: string): Promise<Extract<ToOperator, { type: 'takeover' }>> {
    await this.until(() => this.#newest('takeover')?.state === state);
    return this.#newest('takeover') as Extract<ToOperator, { type: 'takeover' }>;
  }

  /** What became of the newest message with this id. */
  async answer(id: string): Promise<string> {
    const found = (): Extract<ToOperator, { type: 'answer' }> | undefined =>
      this.told.findLast((one) => one.type === 'answer' && one.id === id) as
        Extract<ToOperator, { type: 'answer' }> | undefined;
    await this.until(() => found() !== undefined);
    return found()?.refused ?? 'done';
  }

  /** Texts of the conversation, by who said them. */
  texts(type: 'user.text' | 'bot.text' | 'operator.text'): string[] {
    return this.told.flatMap((one) =>
      one.type === 'event' && one.event.type === type && 'text' in one.event ? [one.event.text] : [],
    );
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Sends a voice of so many milliseconds as fast as the service takes it, in frames of 20 ms. */
  async speak(ms: number, level = 8_000): Promise<void> {
    this.#isSpeaking = true;
    for (let at = 0; at < ms; at += 20) {
      const pcm = Int16Array.from({ length: 320 }, (_, index) => level * Math.sin((index * Math.PI) / 16));
      this.#socket.send(pcm);
      await this.passes(20);
    }
    this.#isSpeaking = false;
  }

  /** So much more of the call is heard. */
  async passes(ms: number): Promise<void> {
    const until = this.heard.all + ms;
    await this.until(() => this.closed !== undefined || this.heard.all >= until);
  }

  /** Takes nothing any more. */
  stall(): void {
    this.isMicrophoneOn = false;
    this.#socket.pause();
  }

  readOn(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.terminate();
  }

  #tell(message: ToOperator): void {
    this.told.push(message);
    if (message.type !== 'takeover' || !message.yours) return;
    this.#microphone ??= setInterval(() => {
      const isSilent = this.isMicrophoneOn && !this.#isSpeaking;
      if (isSilent && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(new Int16Array(16));
    }, 100);
  }

  #newest<T extends ToOperator['type']>(type: T): Extract<ToOperator, { type: T }> | undefined {
    return this.told.findLast((one) => one.type === type) as Extract<ToOperator, { type: T }> | undefined;
  }

  #hear(frame: Buffer): void {
    let [caller, agent] = [0, 0];
    for (let at = 0; at + 4 <= frame.length; at += 4) {
      caller = Math.max(caller, Math.abs(frame.readInt16LE(at)));
      agent = Math.max(agent, Math.abs(frame.readInt16LE(at + 2)));
    }
    this.heard.all += 20;
    if (caller > loud) this.heard.caller += 20;
    if (agent > loud) this.heard.agent += 20;
  }

  #ended(code: number): void {
    clearInterval(this.#microphone);
    this.closed ??= code;
    this.changed();
  }
}
