/** A hosted voice with vendor contexts, base64 audio and word times in seconds, as `tts_cloud_a` meets it. */
import { FakeVoice } from './fake-voice.ts';
import type { FakeVoiceConnection } from './fake-voice.ts';

const RATE = 24_000;

export class FakeCartesia extends FakeVoice {
  private readonly chars = new Map<string, number>();
  private readonly cancelled = new Set<string>();

  protected hear({ socket }: FakeVoiceConnection, message: Record<string, unknown>): void {
    const id = String(message['context_id']);
    const send = (body: object): void => socket.send(JSON.stringify({ context_id: id, ...body }));
    const text = typeof message['transcript'] === 'string' ? message['transcript'] : '';
    if (message['cancel'] === true) {
      this.cancelled.add(id);
      return;
    }
    if (text !== '') {
      const before = this.chars.get(id) ?? 0;
      const secondsOf = (chars: number): number => ((before + chars) * this.samplesPerChar) / RATE;
      const found = [...text.matchAll(/\S+/g)];
      send({
        type: 'timestamps',
        status_code: 206,
        done: false,
        word_timestamps: {
          words: found.map((word) => word[0]),
          start: found.map((word) => secondsOf(word.index)),
          end: found.map((word) => secondsOf(word.index + word[0].length)),
        },
      });
      const pcm = this.pcm(text);
      for (const part of [pcm.subarray(0, 101), pcm.subarray(101)]) {
        send({ type: 'chunk', status_code: 206, done: false, step_time: 1, data: part.toString('base64') });
      }
      this.chars.set(id, before + text.length);
      send({ type: 'flush_done', status_code: 206, done: false, flush_done: true, flush_id: 1 });
    }
    if (message['continue'] !== true) send({ type: 'done', status_code: 200, done: true });
  }
}
