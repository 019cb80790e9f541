/** A hosted voice with one text stream per socket and binary audio, as `tts_cloud_c` meets it. */
import { FakeVoice } from './fake-voice.ts';
import type { FakeVoiceConnection } from './fake-voice.ts';

export class FakeAura extends FakeVoice {
  private text = '';
  private sequence = 0;

  protected hear({ socket }: FakeVoiceConnection, message: Record<string, unknown>): void {
    const { type } = message;
    if (type === 'Speak') this.text += String(message['text']);
    else if (type === 'Clear') {
      this.text = '';
      socket.send(JSON.stringify({ type: 'Cleared', sequence_id: this.sequence }));
    } else if (type === 'Close') socket.close(1000);
    else if (type === 'Flush') {
      const pcm = this.pcm(this.text);
      this.text = '';
      // An odd cut: frames are not aligned to samples.
      for (const part of [pcm.subarray(0, 101), pcm.subarray(101)]) socket.send(part);
      socket.send(JSON.stringify({ type: 'Flushed', sequence_id: this.sequence }));
      this.sequence += 1;
    }
  }
}
