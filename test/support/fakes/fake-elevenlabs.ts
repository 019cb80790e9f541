/** A hosted voice with vendor contexts and times of characters per chunk, as `tts_cloud_b` meets it. */
import { FakeVoice } from './fake-voice.ts';
import type { FakeVoiceConnection } from './fake-voice.ts';

const RATE = 24_000;

export class FakeElevenLabs extends FakeVoice {
  private readonly open = new Set<string>();

  protected hear({ socket }: FakeVoiceConnection, message: Record<string, unknown>): void {
    if (message['close_socket'] === true) {
      socket.close(1000);
      return;
    }
    const id = message['context_id'];
    if (typeof id !== 'string') return;
    const contextId = id;
    if (message['close_context'] === true) {
      this.open.delete(id);
      socket.send(JSON.stringify({ isFinal: true, contextId }));
      return;
    }
    const text = typeof message['text'] === 'string' ? message['text'] : '';
    if (!this.open.has(id)) {
      if (text !== ' ' || message['voice_settings'] === undefined) socket.close(1008, 'voice_settings field');
      this.open.add(id);
      return;
    }
    if (text === '') return;
    const msPerChar = (this.samplesPerChar * 1000) / RATE;
    const chars = text.split('');
    const alignment = {
      chars,
      charStartTimesMs: chars.map((_char, at) => at * msPerChar),
      charDurationsMs: chars.map(() => msPerChar),
    };
    const audio = this.pcm(text).toString('base64');
    socket.send(
      JSON.stringify({ audio, isFinal: false, alignment, normalizedAlignment: alignment, contextId }),
    );
  }
}
